"""Window arithmetic of convolution and pooling along one axis, in ONNX's terms. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


@dataclass(frozen=True, slots=True)
class Window:
    """A window along one axis: kernel taps, step, spacing of taps, padding before and after (elements)."""

    kernel: int
    stride: int = 1
    dilation: int = 1
    pad_begin: int = 0
    pad_end: int = 0

    @property
    def extent(self) -> int:
        """Elements from the first tap to the last, both included."""
        return (self.kernel - 1) * self.dilation + 1

    def output_extent(self, extent: int, *, ceil_mode: bool = False) -> int:
        """Outputs over `extent` inputs; 0 or less where the window does not fit once.

        With ceil_mode a last window that hangs over counts, unless it starts inside the end
        padding or beyond. Source: ONNX MaxPool-22, AveragePool-22.
        """
        room = extent + self.pad_begin + self.pad_end - self.extent
        if room < 0:
            return 0
        if not ceil_mode:
            return room // self.stride + 1
        out = -(-room // self.stride) + 1
        if (out - 1) * self.stride >= extent + self.pad_begin:
            out -= 1
        return out

    def transpose_output_extent(self, extent: int, *, output_padding: int = 0) -> int:
        """Outputs of a transposed convolution over `extent` inputs. Source: ONNX ConvTranspose-22."""
        return self.stride * (extent - 1) + output_padding + self.extent - self.pad_begin - self.pad_end

    def with_auto_pad(self, auto_pad: str, extent: int) -> Window:
        """The same window with explicit pads in place of auto_pad (one of AUTO_PADS)."""
        if auto_pad == "NOTSET":
            return self
        total = 0
        if auto_pad != "VALID":
            out = -(-extent // self.stride)
            total = max(0, (out - 1) * self.stride + self.extent - extent)
        small = total // 2
        begin = total - small if auto_pad == "SAME_LOWER" else small
        return Window(self.kernel, self.stride, self.dilation, begin, total - begin)

    def with_transpose_auto_pad(self, auto_pad: str, extent: int, output_padding: int, output: int | None) -> Window:
        """The same window with explicit pads for a transposed convolution.

        output: the wanted number of outputs (output_shape), or None: extent * stride for SAME_*.
        Source: ONNX ConvTranspose-22, the equations of total_padding and pads.
        """
        if output is None:
            if auto_pad in ("NOTSET", "VALID"):
                return self if auto_pad == "NOTSET" else Window(self.kernel, self.stride, self.dilation)
            output = extent * self.stride
        total = self.stride * (extent - 1) + output_padding + self.extent - output
        if total < 0:  # more outputs than the windows reach: the definition pads nothing and the rest is bias alone
            return Window(self.kernel, self.stride, self.dilation, 0, total)
        begin = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
        return Window(self.kernel, self.stride, self.dilation, begin, total - begin)
