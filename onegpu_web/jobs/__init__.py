"""Whole jobs on pictures: read text, say what is shown, find faces.

Each job prepares a picture with numpy, runs one or two models in sessions that have onnxruntime's call
shape, and turns their outputs into plain dictionaries. Nothing here knows about a GPU: the sessions do.
"""

from .classify import Classify
from .faces import FindFaces
from .picture import Picture, load_picture
from .read import ReadText

__all__ = ["Classify", "FindFaces", "Picture", "ReadText", "load_picture"]
