"""Prints TextBlob's English sentiment lexicon as src/sentiment/lexicon.txt holds it.

python lexicon.py > ../../src/sentiment/lexicon.txt
"""

from importlib.metadata import version

from textblob.en import sentiment

print(
    "# word polarity intensity [adverb]: made by tests/textblob/lexicon.py from en-sentiment.xml of"
    f" TextBlob {version('textblob')} (by Tom De Smedt and Walter Daelemans, public domain: PDDL), the"
    " senses averaged and the adverbs in -ly added as TextBlob does on loading."
)
for word in sorted(sentiment.keys()):
    # The tokenizer yields neither blanks nor apostrophes inside a word: such entries never match.
    if " " in word or "'" in word:
        continue
    polarity, _subjectivity, intensity = sentiment[word][None]
    adverb = " adverb" if "RB" in sentiment[word] else ""
    print(f"{word} {polarity!r} {intensity!r}{adverb}")
