import { Menu as Base } from "@base-ui/react/menu";
import type { ReactElement, ReactNode } from "react";
import { classes } from "./classes.ts";

export type MenuEntry =
  | { readonly type: "line" }
  | { readonly type: "note"; readonly key: string; readonly content: ReactNode }
  | {
      readonly type: "item";
      readonly key: string;
      readonly label: ReactNode;
      readonly onPick: () => void;
      readonly marked?: boolean;
      readonly danger?: boolean;
    };

type MenuProps = {
  readonly trigger: ReactElement;
  readonly entries: readonly MenuEntry[];
  readonly side?: "top" | "bottom";
};

/** A list of things to do, opened by a button. */
export function Menu({ trigger, entries, side = "bottom" }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner side={side} align="start" sideOffset={4} className="z-50">
          <Base.Popup className="appear max-h-(--available-height) max-w-(--available-width) min-w-48 overflow-y-auto rounded-md border border-line bg-surface p-1 text-sm shadow-lg outline-none">
            {entries.map((entry, index) => (
              <Entry key={entry.type === "line" ? index : entry.key} entry={entry} />
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function Entry({ entry }: { readonly entry: MenuEntry }) {
  if (entry.type === "line") return <Base.Separator className="my-1 h-px bg-line" />;
  if (entry.type === "note") return <div className="px-2 py-1.5">{entry.content}</div>;
  return (
    <Base.Item
      onClick={entry.onPick}
      className={classes(
        "flex min-h-8 cursor-pointer items-center justify-between gap-3 rounded px-2 py-1 outline-none",
        "data-[highlighted]:bg-hover",
        entry.danger === true && "text-danger",
      )}
    >
      <span className="min-w-0 truncate">{entry.label}</span>
      {entry.marked === true ? <span aria-label="chosen">✓</span> : null}
    </Base.Item>
  );
}
