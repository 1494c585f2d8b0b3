import { useMemo } from "react";
import { encode } from "uqr";

/** A text as a QR code, dark on light in every theme, since cameras want it so. */
export function QrCode({
  text,
  label = "QR code of the MCP URL",
}: {
  readonly text: string;
  readonly label?: string;
}) {
  const { size, path } = useMemo(() => {
    const code = encode(text, { border: 2 });
    const cells = code.data.flatMap((row, y) =>
      row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])),
    );
    return { size: code.size, path: cells.join("") };
  }, [text]);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      className="size-48 rounded-md bg-white"
      shapeRendering="crispEdges"
    >
      <path d={path} fill="#111111" />
    </svg>
  );
}
