import type { ButtonHTMLAttributes } from "react";
import { classes } from "./classes.ts";

export type ButtonKind = "primary" | "secondary" | "quiet" | "danger";

const KINDS: Readonly<Record<ButtonKind, string>> = {
  primary: "bg-accent text-on-accent border-transparent hover:bg-accent-strong",
  secondary: "bg-surface text-ink border-line-strong hover:bg-hover",
  quiet: "bg-transparent text-quiet border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-danger text-on-danger border-transparent hover:opacity-90",
};

/** The look of a button, for links that are one. */
export function buttonClasses(kind: ButtonKind = "secondary", small = false): string {
  return classes(
    "inline-flex items-center justify-center gap-2 rounded-md border font-medium whitespace-nowrap",
    "transition-colors disabled:cursor-not-allowed disabled:opacity-55",
    small ? "h-7 px-2 text-xs" : "h-9 px-3 text-sm",
    KINDS[kind],
  );
}

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly kind?: ButtonKind;
  readonly small?: boolean;
  /** Shows that what it started is not over; it can't be pressed meanwhile. */
  readonly busy?: boolean;
};

export function Button({
  kind = "secondary",
  small = false,
  busy = false,
  className,
  disabled,
  children,
  type = "button",
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
      className={classes(buttonClasses(kind, small), className)}
    >
      {busy ? <Spinner /> : null}
      {children}
    </button>
  );
}

export function Spinner() {
  return (
    <span
      aria-hidden
      className="size-3.5 shrink-0 animate-spin rounded-full border-2 border-current border-r-transparent"
    />
  );
}
