"""Choices that can be recorded, replayed, changed in one place and made smaller.

Everything random about a query is drawn here, as a number below some bound; 0 is always the simplest
alternative. The list of the numbers drawn is the query's *tape*: the same tape gives the same query, one
number changed gives a look-alike, zeros and shorter tapes give smaller queries.
"""

import random


class Dice:
    def __init__(self, seed, tape=(), wild=True):
        """Follows the tape; after its end draws at random, or (not wild) always 0."""
        self.random = random.Random(seed)
        self.given = list(tape)
        self.wild = wild
        self.tape = []

    def below(self, bound):
        at = len(self.tape)
        if at < len(self.given):
            number = self.given[at] % bound
        elif self.wild:
            number = self.random.randrange(bound)
        else:
            number = 0
        self.tape.append(number)
        return number

    def one_in(self, n):
        """True once in n; the simplest is False."""
        return self.below(n) == n - 1

    def among(self, options):
        return options[self.below(len(options))]

    def between(self, low, high):
        """From low (the simplest) to high, both included."""
        return low + self.below(high - low + 1)


def look_alike(seed, tape):
    """The tape with one of its choices changed."""
    chance = random.Random(seed)
    changed = list(tape)
    changed[chance.randrange(len(changed))] += 1 + chance.randrange(3)
    return changed
