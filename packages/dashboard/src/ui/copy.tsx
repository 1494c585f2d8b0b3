import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";

const SAID_MS = 2_000;

/** Copies a text and says so for two seconds. */
export function CopyButton({
  text,
  label = "Copy",
  small = true,
}: {
  readonly text: string;
  readonly label?: string;
  readonly small?: boolean;
}) {
  const [said, setSaid] = useState<"copied" | "refused" | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = (): void => {
    // Absent where the page is served over plain http from another machine.
    const clipboard: Clipboard | undefined = navigator.clipboard;
    if (clipboard === undefined) return setSaid("refused");
    clipboard.writeText(text).then(
      () => setSaid("copied"),
      () => setSaid("refused"),
    );
  };
  const words = { copied: "Copied", refused: "Select and copy it by hand" };
  return (
    <Button small={small} onClick={copy}>
      <span aria-live="polite">{said === null ? label : words[said]}</span>
    </Button>
  );
}

/** Lines to copy, with a bar that says what they are. */
export function CodeBlock({
  code,
  title,
  wrap = false,
}: {
  readonly code: string;
  readonly title?: ReactNode;
  readonly wrap?: boolean;
}) {
  return (
    <div className="min-w-0 overflow-hidden rounded-md border border-line bg-sunken">
      <div className="flex items-center justify-between gap-2 border-b border-line py-1 pr-1 pl-3">
        <span className="truncate text-xs text-quiet">{title}</span>
        <CopyButton text={code} />
      </div>
      {/* It scrolls, so the keyboard must reach it. */}
      <pre
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        dir="ltr"
        className={classes(
          "overflow-x-auto p-3 text-xs leading-5",
          wrap && "break-all whitespace-pre-wrap",
        )}
      >
        {code}
      </pre>
    </div>
  );
}

/** One value to copy: a key, an id, an address. */
export function CopyLine({ text, title }: { readonly text: string; readonly title: string }) {
  return (
    <div className="flex min-w-0 items-center justify-between gap-2 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
      <span className="min-w-0">
        <span className="block text-xs text-quiet">{title}</span>
        <code dir="ltr" className="block text-xs break-all">
          {text}
        </code>
      </span>
      <CopyButton text={text} />
    </div>
  );
}
