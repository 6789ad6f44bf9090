"""Pictures that the tests draw themselves, with Pillow and the DejaVu fonts (Debian: fonts-dejavu-core)."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

FONTS = Path("/usr/share/fonts/truetype/dejavu")

_SENTENCES = (
    "The quick brown fox jumps over the lazy dog",
    "Invoice 2024-0817, due on 31 March 2025",
    "Total: 1,284.50 EUR (incl. 19% VAT)",
    "Platform 9, departs 14:35, arrives 17:08",
    "Please keep the door closed!",
    "Write to sales@example.org or call +49 30 901820",
    "Why does it work? Nobody knows.",
    "Serial no. X7-4410-B/2, made in Austria",
    "Chapter 12: Measuring what matters",
    "OPEN DAILY 8:30 - 18:00",
    "WARNING: High voltage inside",
    "Mix 250 g flour, 3 eggs and 100 ml milk",
    "She sells sea shells on the sea shore",
    "Version 3.14.2 is now available",
    "Room 205 & 206: second floor, left",
    "Discount of 15% on all books & maps",
    "Flight LH 1978 to Vienna, gate B42",
    "A journey of a thousand miles begins here",
    "Battery at 73%, charging...",
    "Terms and conditions apply; see page 6",
    "Pack my box with five dozen liquor jugs",
    "Latitude 48.2082 N, longitude 16.3738 E",
    "Next meeting: Tuesday, 10 June, 09:15",
    "Do not bend, fold or staple this form.",
    "Speed limit 80 km/h for 12 km",
    "Password must have 8 or more characters",
    "Copyright 1998-2026 Example Works Ltd.",
    "Best before: 05/2027, lot K93-A",
    "Turn left at the bridge, then go 400 m",
    "How vexingly quick daft zebras jump!",
)


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line of text as drawn: top left corner, font size in pixels, colours, and turn in degrees."""

    text: str
    x: int
    y: int
    size: int
    ink: tuple[int, int, int]
    paper: tuple[int, int, int]
    degrees: float = 0.0


def printed_page(
    seed: int, *, lines: int = 14, width: int = 1000, bold: bool = False
) -> tuple[NDArray[np.uint8], list[str]]:
    """Draw a page of printed lines and return it as (H, W, 3) uint8 with its texts from top to bottom.

    Sizes go from 14 to 48 pixels, every third line is light on a dark block, one is turned by 3 degrees.
    """
    rng = random.Random(seed)
    placed = _layout(rng, lines, width)
    height = placed[-1].y + placed[-1].size + 60
    page = Image.new("RGB", (width, height), (250, 249, 245))
    for line in placed:
        _draw(page, line, FONTS / ("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"))
    return np.asarray(page).copy(), [line.text for line in placed]


def _layout(rng: random.Random, lines: int, width: int) -> list[PrintedLine]:
    turned = rng.randrange(lines)
    placed = []
    y = 30
    for number, text in enumerate(rng.sample(_SENTENCES, lines)):
        size = rng.choice((14, 16, 18, 20, 24, 28, 32, 36, 42, 48))
        font = ImageFont.truetype(str(FONTS / "DejaVuSans-Bold.ttf"), size)
        while font.getlength(text) > width - 80:
            size -= 2
            font = font.font_variant(size=size)
        x = rng.randrange(30, int(width - 40 - font.getlength(text)))
        dark, light = _colour(rng, 0, 90), _colour(rng, 215, 255)
        inverse = number % 3 == 2
        slope = round(font.getlength(text) * 0.053) if number == turned else 0
        ink, paper = (light, dark) if inverse else (dark, light)
        placed.append(PrintedLine(text, x, y, size, ink, paper, 3.0 if number == turned else 0.0))
        y += round(size * 1.2) + slope + rng.randrange(14, 30)
    return placed


def _colour(rng: random.Random, low: int, high: int) -> tuple[int, int, int]:
    return rng.randint(low, high), rng.randint(low, high), rng.randint(low, high)


def _draw(page: Image.Image, line: PrintedLine, path: Path) -> None:
    """Draw a line on a block of its own colour, and turn the block clockwise about its left end."""
    font = ImageFont.truetype(str(path), line.size)
    block_width, block_height = round(font.getlength(line.text)) + 20, round(line.size * 1.2) + 8
    block = Image.new("RGBA", (block_width, block_height), (*line.paper, 255))
    ImageDraw.Draw(block).text((10, 4), line.text, font=font, fill=(*line.ink, 255))
    if line.degrees:
        block = block.rotate(-line.degrees, resample=Image.Resampling.BICUBIC, expand=True)
    page.paste(block, (line.x - 10, line.y - 4), block)


def character_errors(read: str, meant: str) -> int:
    """Levenshtein distance: how many characters must be put in, taken out or changed."""
    row = list(range(len(meant) + 1))
    for i, left in enumerate(read, 1):
        diagonal, row[0] = row[0], i
        for j, right in enumerate(meant, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (left != right))
    return row[-1]


def character_error_rate(read: list[str], meant: list[str]) -> float:
    """Character errors over the length of what is meant, on the lines joined from top to bottom."""
    return character_errors("\n".join(read), "\n".join(meant)) / len("\n".join(meant))
