import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { classes } from "./classes.ts";

type DialogProps = {
  readonly title: ReactNode;
  readonly note?: ReactNode;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

// Above the dialog it was opened from, too: what comes later in the document is on top.
const BACKDROP = "appear fixed inset-0 z-40 bg-shade";

/** A question or a form above the page; Escape and a click beside it close it. */
export function Dialog({ title, note, open, onClose, children }: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Base.Portal>
        <Base.Backdrop forceRender className={BACKDROP} />
        <Base.Popup
          className={classes(
            "appear fixed top-1/2 left-1/2 z-40 max-h-[90dvh] w-[min(32rem,calc(100vw-2rem))]",
            "-translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-lg border border-line",
            "bg-surface p-5 shadow-xl outline-none",
          )}
        >
          <Base.Title className="text-lg font-semibold break-words">{title}</Base.Title>
          {note === undefined ? null : (
            <Base.Description className="mt-1 text-sm text-quiet">{note}</Base.Description>
          )}
          <div className="mt-4 flex flex-col gap-4">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** What belongs to one row of a list, beside the list; the whole screen where that is narrow. */
export function Drawer({ title, note, open, onClose, children }: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Base.Portal>
        <Base.Backdrop forceRender className={BACKDROP} />
        <Base.Popup
          className={classes(
            "slide-in fixed inset-y-0 right-0 z-40 flex w-full max-w-2xl flex-col border-l",
            "border-line bg-paper shadow-xl outline-none",
          )}
        >
          <header className="flex items-start justify-between gap-4 border-b border-line bg-surface px-5 py-4">
            <div className="min-w-0">
              <Base.Title className="text-lg font-semibold break-words">
                <bdi>{title}</bdi>
              </Base.Title>
              {note === undefined ? null : (
                <Base.Description render={<div />} className="text-sm text-quiet">
                  {note}
                </Base.Description>
              )}
            </div>
            <Base.Close
              aria-label="Close"
              className="flex size-8 shrink-0 items-center justify-center rounded-md text-quiet hover:bg-hover hover:text-ink"
            >
              <span aria-hidden>✕</span>
            </Base.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto p-5">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** The row of buttons at a dialog's end. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className="flex flex-wrap justify-end gap-2">{children}</div>;
}
