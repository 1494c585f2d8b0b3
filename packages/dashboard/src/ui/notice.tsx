import type { ReactNode } from "react";
import { ApiFailure } from "../api/client.ts";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";

export type Tone = "info" | "good" | "warn" | "danger";

const TONES: Readonly<Record<Tone, string>> = {
  info: "bg-info-soft text-info",
  good: "bg-accent-soft text-accent",
  warn: "bg-warn-soft text-warn",
  danger: "bg-danger-soft text-danger",
};

type NoticeProps = {
  readonly tone: Tone;
  readonly title?: ReactNode;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
};

/** A sentence that must not be missed. */
export function Notice({ tone, title, children, action }: NoticeProps) {
  return (
    <div
      role={tone === "danger" ? "alert" : "status"}
      className={classes(
        "flex flex-wrap items-center justify-between gap-x-4 gap-y-2 rounded-md px-4 py-3 text-sm",
        TONES[tone],
      )}
    >
      <div className="min-w-0 flex-1 basis-60 break-words">
        {title === undefined ? null : <p className="font-semibold">{title}</p>}
        {children}
      </div>
      {action}
    </div>
  );
}

/** What went wrong, with the request id that a log or an operator can be asked about. */
export function FailureNote({
  failure,
  onRetry,
}: {
  readonly failure: Error;
  readonly onRetry?: (() => void) | undefined;
}) {
  const requestId = failure instanceof ApiFailure ? failure.requestId : null;
  return (
    <Notice
      tone="danger"
      action={
        onRetry === undefined ? undefined : (
          <Button small onClick={onRetry}>
            Try again
          </Button>
        )
      }
    >
      <p>{failure.message}</p>
      {requestId === null ? null : (
        <p className="text-xs">
          Request <code className="break-all">{requestId}</code>
        </p>
      )}
    </Notice>
  );
}

/** What a list shows when there is nothing in it, and what to do about that. */
export function Empty({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-8 text-center">
      <p className="font-medium">{title}</p>
      {children === undefined ? null : (
        <div className="max-w-md text-sm text-quiet">{children}</div>
      )}
      {action === undefined ? null : <div className="mt-2">{action}</div>}
    </div>
  );
}

/** Grey lines where something is on its way. */
export function Loading({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div role="status" className="flex flex-col gap-3 p-4">
      <span className="sr-only">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        <span
          key={line}
          aria-hidden
          className={classes(
            "h-4 animate-pulse rounded bg-line",
            ["w-11/12", "w-3/4", "w-5/6", "w-1/2"][line % 4],
          )}
        />
      ))}
    </div>
  );
}
