import { useId } from "react";
import type { ReactNode } from "react";
import { classes } from "./classes.ts";

type CardProps = {
  readonly title?: ReactNode;
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  /** Without padding, for a table that reaches the edges. */
  readonly flush?: boolean;
  readonly danger?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
};

/** A part of a page with a line around it. */
export function Card(props: CardProps) {
  const { title, note, actions, flush = false, danger = false, className, children } = props;
  const id = useId();
  const titled = title !== undefined;
  return (
    <section
      aria-labelledby={titled ? id : undefined}
      className={classes(
        "min-w-0 rounded-lg border bg-surface",
        danger ? "border-danger/40" : "border-line",
        className,
      )}
    >
      {titled ? (
        <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 border-b border-line px-4 py-3">
          <div className="min-w-0">
            <h2 id={id} className="text-base font-semibold">
              {title}
            </h2>
            {note === undefined ? null : <p className="text-sm text-quiet">{note}</p>}
          </div>
          {actions === undefined ? null : <div className="flex gap-2">{actions}</div>}
        </div>
      ) : null}
      <div className={flush ? "" : "p-4"}>{children}</div>
    </section>
  );
}

type PageHeadProps = {
  readonly title: ReactNode;
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
};

/** A page's name, a sentence about it, and what can be done on it. */
export function PageHead({ title, note, actions }: PageHeadProps) {
  return (
    <header className="mb-6 flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
      <div className="max-w-2xl min-w-0">
        <h1 className="text-xl font-semibold tracking-tight break-words">{title}</h1>
        {note === undefined ? null : <p className="mt-1 text-sm text-quiet">{note}</p>}
      </div>
      {actions === undefined ? null : <div className="flex flex-wrap gap-2">{actions}</div>}
    </header>
  );
}

/** A number with its name: the headline of a page, or one of a row of facts. */
export function Figure({
  name,
  value,
  note,
  large = false,
}: {
  readonly name: ReactNode;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  readonly large?: boolean;
}) {
  return (
    <div className={large ? "min-w-0 sm:col-span-2" : "min-w-0"}>
      <dt className="text-xs text-quiet">{name}</dt>
      <dd
        className={classes(
          "font-semibold tracking-tight break-words tabular-nums",
          large ? "text-3xl" : "text-xl",
        )}
      >
        {value}
      </dd>
      {note === undefined ? null : <dd className="text-xs text-quiet">{note}</dd>}
    </div>
  );
}

/** Names and values in two columns, one on a narrow screen. */
export function Facts({
  rows,
}: {
  readonly rows: readonly { readonly name: string; readonly value: ReactNode }[];
}) {
  return (
    <dl className="grid grid-cols-1 gap-x-6 text-sm sm:grid-cols-[max-content_1fr]">
      {rows.map(({ name, value }) => (
        <div key={name} className="contents">
          <dt className="pt-2 text-quiet sm:pb-2">{name}</dt>
          <dd className="min-w-0 pb-2 break-words sm:pt-2">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
