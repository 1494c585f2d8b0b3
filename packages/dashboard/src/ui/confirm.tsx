import { useState } from "react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { FailureNote } from "./notice.tsx";

type ConfirmProps = {
  readonly title: string;
  /** What will happen, and what it breaks. */
  readonly children: ReactNode;
  readonly action: string;
  /** What has to be typed before the button works; none where the step can be taken back. */
  readonly typed?: string;
  readonly danger?: boolean;
  readonly busy: boolean;
  readonly failure: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
};

/** Asks before a step that breaks something, and wants its name typed if it can't be taken back. */
export function Confirm(props: ConfirmProps) {
  const { title, children, action, typed, danger = true, busy, failure } = props;
  const [text, setText] = useState("");
  const isTyped = typed === undefined || text.trim() === typed.trim();
  return (
    <Dialog title={title} open onClose={props.onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (isTyped) props.onConfirm();
        }}
      >
        <div className="flex flex-col gap-2 text-sm">{children}</div>
        {typed === undefined ? null : (
          <TextField
            label={
              <>
                Type{" "}
                <bdi className="rounded bg-hover px-1 font-semibold break-all select-all">
                  {typed}
                </bdi>{" "}
                to confirm
              </>
            }
            value={text}
            onValue={setText}
            autoComplete="off"
            autoFocus
          />
        )}
        {failure === null ? null : <FailureNote failure={failure} />}
        <DialogActions>
          <Button onClick={props.onClose}>Cancel</Button>
          <Button
            type="submit"
            kind={danger ? "danger" : "primary"}
            busy={busy}
            disabled={!isTyped}
          >
            {action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
