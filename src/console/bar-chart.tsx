import { scaleBand, scaleLinear } from "d3-scale";
import { stack } from "d3-shape";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface Bar {
  /** The text below the bar. */
  label: string;
  /** The parts of the bar by name. */
  parts: Record<string, number>;
}

interface Props {
  /** What the chart shows, for screen readers. A table beside it has the numbers. */
  label: string;
  bars: Bar[];
  /** The names of the parts, from bottom to top. Each has a colour in the style sheet: `.part-NAME`. */
  names: readonly string[];
  format: (value: number) => string;
}

const height = 260;
const margins = { top: 10, right: 4, bottom: 24 };
/** The room for a bar, in pixels, if there are few. */
const stepMax = 100;
/** The width of a character of a label, in pixels. */
const characterWidth = 7;
/** The room for a label below the bars, in pixels. */
const labelWidth = 90;

/** Stacked bars, as wide as the page. */
export function BarChart(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState<number>();
  useLayoutEffect(() => {
    const element = box.current as HTMLDivElement;
    const measure = () => setWidth(Math.max(element.clientWidth, 200));
    const observer = new ResizeObserver(measure);
    measure();
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div class="chart" ref={box}>
      {width !== undefined && <Bars {...props} width={width} />}
    </div>
  );
}

function Bars({ label, bars, names, format, width }: Props & { width: number }) {
  const series = stack<Bar>()
    .keys(names)
    .value(({ parts }, name) => parts[name] ?? 0)(bars);
  const y = scaleLinear([0, Math.max(1, ...series.flat(2))], [height - margins.bottom, margins.top]).nice();
  const ticks = y.ticks(4).map((tick) => ({ at: y(tick), text: format(tick) }));
  const margin = {
    ...margins,
    left: 16 + characterWidth * Math.max(...ticks.map(({ text }) => text.length)),
  };
  const x = scaleBand(
    bars.map((_, index) => index),
    [margin.left, Math.min(width - margin.right, margin.left + bars.length * stepMax)],
  ).padding(0.2);
  const every = Math.ceil((bars.length * labelWidth) / (width - margin.left));
  return (
    <svg width={width} height={height} role="img" aria-label={label}>
      {ticks.map(({ at, text }) => (
        <g key={at}>
          <line class="grid" x1={margin.left} x2={width - margin.right} y1={at} y2={at} />
          <text class="tick" x={margin.left - 8} y={at} dy="0.32em" text-anchor="end">
            {text}
          </text>
        </g>
      ))}
      {series.map((one) => (
        <g class={`part-${one.key}`} key={one.key}>
          {one.map(
            ([from, to], index) =>
              to > from && (
                <rect
                  key={bars[index]?.label}
                  x={x(index)}
                  width={x.bandwidth()}
                  y={y(to)}
                  height={y(from) - y(to)}
                >
                  <title>{`${bars[index]?.label}, ${one.key}: ${format(to - from)}`}</title>
                </rect>
              ),
          )}
        </g>
      ))}
      {bars.map(
        (bar, index) =>
          index % every === 0 && (
            <text
              class="tick"
              key={bar.label}
              x={(x(index) ?? 0) + x.bandwidth() / 2}
              y={height - 6}
              text-anchor="middle"
            >
              {bar.label}
            </text>
          ),
      )}
    </svg>
  );
}
