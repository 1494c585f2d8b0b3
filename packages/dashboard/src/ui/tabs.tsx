import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";

type TabsProps = {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly tabs: readonly {
    readonly value: string;
    readonly label: ReactNode;
    readonly panel: () => ReactNode;
  }[];
};

/** Tabs with arrow keys; only the chosen panel is made. */
export function Tabs({ label, value, onValue, tabs }: TabsProps) {
  return (
    <Base.Root value={value} onValueChange={(next) => onValue(String(next))}>
      <Base.List
        aria-label={label}
        className="mb-4 flex gap-1 overflow-x-auto border-b border-line"
      >
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className="-mb-px h-9 shrink-0 cursor-pointer border-b-2 border-transparent px-3 text-sm font-medium text-quiet hover:text-ink data-[active]:border-accent data-[active]:text-ink"
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value}>
          {tab.value === value ? tab.panel() : null}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
