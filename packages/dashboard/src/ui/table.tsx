import type { ReactNode, TdHTMLAttributes } from "react";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";

type Column = {
  readonly name: string;
  /** Numbers stand at the end of their column. */
  readonly end?: boolean;
  /** Left out on screens too narrow for all columns. */
  readonly wideOnly?: boolean;
  /** Read out, but not shown. */
  readonly silent?: boolean;
};

/** A table whose rows may be wider than a narrow screen; then it scrolls by itself. */
export function Table({
  caption,
  columns,
  children,
}: {
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly children: ReactNode;
}) {
  return (
    // Relative, so that what is only read out scrolls with it, and does not make the page wider.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="relative overflow-x-auto" tabIndex={0} role="group" aria-label={caption}>
      <table className="w-full border-collapse text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b border-line">
            {columns.map(({ name, end, wideOnly, silent }) => (
              <th
                key={name}
                scope="col"
                className={classes(
                  "h-9 px-3 text-xs font-medium whitespace-nowrap text-quiet first:pl-4 last:pr-4",
                  end === true ? "text-right" : "text-left",
                  wideOnly === true && "hidden lg:table-cell",
                )}
              >
                {silent === true ? <span className="sr-only">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

export function Row({
  children,
  fresh = false,
}: {
  readonly children: ReactNode;
  readonly fresh?: boolean;
}) {
  return (
    <tr
      className={classes("border-b border-line last:border-b-0 hover:bg-hover", fresh && "arrive")}
    >
      {children}
    </tr>
  );
}

type CellProps = TdHTMLAttributes<HTMLTableCellElement> & {
  readonly end?: boolean;
  readonly wideOnly?: boolean;
};

export function Cell({ end = false, wideOnly = false, className, ...rest }: CellProps) {
  return (
    <td
      {...rest}
      className={classes(
        "h-10 px-3 py-1.5 first:pl-4 last:pr-4",
        end && "text-right whitespace-nowrap tabular-nums",
        wideOnly && "hidden lg:table-cell",
        className,
      )}
    />
  );
}

/** The way to the next rows of a list that comes page by page. */
export function More({
  query,
}: {
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => Promise<unknown>;
  };
}) {
  if (!query.hasNextPage) return null;
  return (
    <div className="flex justify-center border-t border-line p-3">
      <Button small busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        Show more
      </Button>
    </div>
  );
}
