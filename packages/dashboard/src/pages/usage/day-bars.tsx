import type { Usage } from "../../api/shapes.ts";
import { count } from "../../ui/format.ts";
import { Cell, Row, Table } from "../../ui/table.tsx";

const HEIGHT = 100;
const STEP = 10;

/** A bar for every day of the month; the same numbers stand in a table below. */
export function DayBars({ usage }: { readonly usage: Usage }) {
  const days = daysOf(usage);
  const most = Math.max(1, ...days.map(({ total }) => total));
  const scaled = (calls: number): number => (calls / most) * HEIGHT;
  return (
    <>
      <svg
        role="img"
        aria-label={`Calls a day in ${usage.month}; the busiest day had ${count(most)}. A table follows.`}
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-36 w-full border-b border-line"
      >
        {days.map(({ day, counted, total }, index) => (
          <g key={day}>
            <rect
              x={index * STEP + 1}
              y={HEIGHT - scaled(total)}
              width={STEP - 2}
              height={scaled(total)}
              className="fill-(--line-strong)"
            />
            <rect
              x={index * STEP + 1}
              y={HEIGHT - scaled(counted)}
              width={STEP - 2}
              height={scaled(counted)}
              className="fill-(--accent)"
            />
            <title>{`${day}: ${count(counted)} counted of ${count(total)}`}</title>
          </g>
        ))}
      </svg>
      <div aria-hidden className="mt-1 flex justify-between text-xs text-quiet tabular-nums">
        <span>{days[0]?.day.slice(8)}</span>
        <span>busiest day: {count(most)}</span>
        <span>{days.at(-1)?.day.slice(8)}</span>
      </div>
      <details className="mt-3 text-sm">
        <summary className="w-fit text-xs text-quiet hover:text-ink">The same as a table</summary>
        <div className="mt-2 max-h-72 overflow-y-auto rounded-md border border-line">
          <Table
            caption="Calls a day"
            columns={[{ name: "Day" }, { name: "Counted", end: true }, { name: "All", end: true }]}
          >
            {days
              .filter(({ total }) => total > 0)
              .map(({ day, counted, total }) => (
                <Row key={day}>
                  <Cell>{day}</Cell>
                  <Cell end>{count(counted)}</Cell>
                  <Cell end>{count(total)}</Cell>
                </Row>
              ))}
          </Table>
        </div>
      </details>
    </>
  );
}

/** Every day of the month, also those without a call. */
function daysOf({ month, days }: Usage): Usage["days"] {
  const known = new Map(days.map((day) => [day.day, day]));
  const [year = 0, number = 1] = month.split("-").map(Number);
  const length = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return Array.from({ length }, (_, index) => {
    const day = `${month}-${String(index + 1).padStart(2, "0")}`;
    return known.get(day) ?? { day, counted: 0, total: 0 };
  });
}
