"""For every line of the input, a JSON string: TextBlob's polarity of it, a tab, and the line."""

import json
import sys

from textblob.en import sentiment

sys.stdin.reconfigure(encoding="utf-8")
sys.stdout.reconfigure(encoding="utf-8")
for line in sys.stdin:
    polarity, _subjectivity = sentiment(json.loads(line))
    sys.stdout.write(f"{polarity!r}\t{line}")
