"""How long a lesson takes, by one formula that the map states."""

from explainer.learn.content import FILL, ORDER, Lesson

WORDS_A_MINUTE = 130  # a text that is new to its reader
MOST_CONTROLS = 2  # that a reader moves before the question


def minutes(lesson: Lesson, controls: int) -> int:
    """Return the minutes of a lesson: its words, 1 for the picture, ½ for each of its controls, 1
    for the question or 2 if it is code."""
    question = lesson.question
    texts = [lesson.words, question.words, *(text for text, _ in question.options)]
    reading = sum(len(text.split()) for text in texts) / WORDS_A_MINUTE
    answering = 2 if question.kind in (ORDER, FILL) else 1
    return round(reading + 1 + min(controls, MOST_CONTROLS) / 2 + answering)
