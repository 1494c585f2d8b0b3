import type { Outcome } from "@relay/protocol";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
type ChartProps = {
  readonly label: string;
  /** Starts of the hours in ms, ascending. */
  readonly times: readonly number[];
  /** One row of numbers for each outcome, the first at the bottom. */
  readonly layers: readonly { readonly outcome: Outcome; readonly values: readonly number[] }[];
  /** The hour that is pointed at, or null. */
  readonly onHover: (index: number | null) => void;
};

const HEIGHT_PX = 180;

/** Bars of one colour upon the other, an hour each, drawn on a canvas. */
export function StackedChart({ label, times, layers, onHover }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const hover = useRef(onHover);
  useEffect(() => {
    hover.current = onHover;
  });
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let chart = draw(element, times, layers, (index) => hover.current(index));
    const redraw = (): void => {
      chart.destroy();
      chart = draw(element, times, layers, (index) => hover.current(index));
    };
    const size = new ResizeObserver(() => {
      chart.setSize({ width: element.clientWidth, height: HEIGHT_PX });
    });
    size.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", redraw);
    window.addEventListener("relay-theme", redraw);
    return () => {
      size.disconnect();
      scheme.removeEventListener("change", redraw);
      window.removeEventListener("relay-theme", redraw);
      chart.destroy();
    };
  }, [times, layers]);
  return <div ref={place} role="img" aria-label={label} className="h-45 w-full min-w-0" />;
}

function draw(
  element: HTMLElement,
  times: ChartProps["times"],
  layers: ChartProps["layers"],
  onHover: (index: number | null) => void,
): uPlot {
  const colourOf = colours(element);
  const quiet = colourOf("quiet");
  const line = colourOf("line");
  const bars = uPlot.paths.bars;
  if (bars === undefined) throw new Error("uPlot came without bars");
  const paths = bars({ size: [0.82, 48], align: 1 });
  // The highest sum first: what is drawn later covers its lower part.
  const stacked = sumsOf(layers).toReversed();
  const axis = { stroke: quiet, grid: { show: false }, ticks: { show: false } };
  const options: uPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: { x: { time: true, range: (_chart, min, max) => [min, max + 3_600] } },
    axes: [
      { ...axis, font: `11px ${fontOf(element)}`, size: 28, space: 64, values: timeTicks },
      {
        ...axis,
        font: `11px ${fontOf(element)}`,
        size: 48,
        grid: { stroke: line, width: 1 },
        values: (_chart, ticks) =>
          ticks.map((tick) => (Number.isInteger(tick) ? tick.toLocaleString("en") : "")),
      },
    ],
    series: [
      {},
      ...stacked.map(({ outcome }) => ({
        fill: colourOf(outcome),
        width: 0,
        points: { show: false },
        paths,
      })),
    ],
    hooks: { setCursor: [(chart) => onHover(chart.cursor.idx ?? null)] },
  };
  const seconds = times.map((time) => time / 1_000);
  return new uPlot(options, [seconds, ...stacked.map(({ values }) => [...values])], element);
}

/** Hours by the clock, and the day where one begins; days alone where they are close together. */
function timeTicks(
  _chart: uPlot,
  ticks: readonly number[],
  _axis: number,
  _space: number,
  step: number,
) {
  return ticks.map((tick) => {
    const at = new Date(tick * 1_000);
    const isMidnight = at.getHours() === 0;
    const clock = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    const day = at.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
    return step >= 86_400 || isMidnight ? day : clock;
  });
}

function sumsOf(layers: ChartProps["layers"]): ChartProps["layers"] {
  const sums: { outcome: Outcome; values: readonly number[] }[] = [];
  for (const { outcome, values } of layers) {
    const below = sums.at(-1)?.values;
    sums.push({ outcome, values: values.map((value, index) => value + (below?.[index] ?? 0)) });
  }
  return sums;
}

/** A canvas wants colours as they are, not the names of tokens. */
function colours(element: HTMLElement): (token: string) => string {
  return (token) => {
    const probe = document.createElement("span");
    probe.style.color = `var(--${token})`;
    element.append(probe);
    const colour = getComputedStyle(probe).color;
    probe.remove();
    return colour;
  };
}

function fontOf(element: HTMLElement): string {
  return getComputedStyle(element).fontFamily;
}
