/**
 * `npx node services/gateway/bench/charts.ts <figures of creation> <figures of at-size> <folder>`: draws what the two benches
 * have written with --json.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const width = 640;
const height = 300;
const plot = { left: 64, right: 24, top: 44, bottom: 40 };

interface Series {
  name: string;
  colour: string;
  values: readonly number[];
}

interface Chart {
  title: string;
  /** Below each value. */
  labels: readonly string[];
  unit: string;
  series: readonly Series[];
}

/** The next 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((each) => each * power >= value) ?? 10);
}

const text = (x: number, y: number, content: string, extra = '') =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${extra}>${content}</text>`;

/** Bars side by side: what is compared stands next to each other. */
function draw({ title, labels, unit, series }: Chart): string {
  const most = roundUp(Math.max(...series.flatMap(({ values }) => values)));
  const inner = { width: width - plot.left - plot.right, height: height - plot.top - plot.bottom };
  const yOf = (value: number) => plot.top + inner.height * (1 - value / most);
  const group = inner.width / labels.length;
  const bar = (group * 0.7) / series.length;
  const lines = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => {
    const y = yOf(share * most);
    const value = (share * most).toLocaleString('en', { maximumFractionDigits: 2 });
    return [
      `<line x1="${plot.left}" x2="${width - plot.right}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}" stroke="#8884"/>`,
      text(plot.left - 8, y + 4, value, 'text-anchor="end"'),
    ];
  });
  const bars = series.flatMap(({ colour, values }, number) =>
    values.map((value, index) => {
      const x = plot.left + group * index + group * 0.15 + bar * number;
      const y = yOf(value);
      return `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${(bar * 0.92).toFixed(1)}" height="${(yOf(0) - y).toFixed(1)}" fill="${colour}"/>`;
    }),
  );
  const names = labels.map((label, index) =>
    text(plot.left + group * (index + 0.5), height - 16, label, 'text-anchor="middle"'),
  );
  const legend = series.flatMap(({ name, colour }, number) => {
    const x = plot.left + number * 190;
    return [`<rect x="${x}" y="26" width="10" height="10" fill="${colour}"/>`, text(x + 16, 35, name)];
  });
  const style = 'font-family="system-ui, sans-serif" font-size="12" fill="#777"';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}" ${style}>`,
    text(plot.left, 16, `${title} (${unit})`, 'font-weight="600"'),
    ...[...legend, ...lines, ...bars, ...names],
    '</svg>\n',
  ].join('\n');
}

interface Creation {
  comparisons: { connections: number; gateway: { perSecond: number }; bare: { perSecond: number } }[];
}

interface AtSize {
  rows: { payments: number; cpuMs: number; memoryMiB: number }[];
}

const [creationFile = '', atSizeFile = '', folder = ''] = process.argv.slice(2);
const { comparisons } = JSON.parse(readFileSync(creationFile, 'utf8')) as Creation;
const { rows } = JSON.parse(readFileSync(atSizeFile, 'utf8')) as AtSize;
const [blue, grey] = ['#3267d6', '#9aa4b5'];

const charts: Record<string, Chart> = {
  'creations.svg': {
    title: 'Creations beside the limit',
    unit: 'a second',
    labels: comparisons.map(({ connections }) => `${connections} connections`),
    series: [
      { name: 'gateway', colour: blue, values: comparisons.map(({ gateway }) => gateway.perSecond) },
      { name: 'bare chain', colour: grey, values: comparisons.map(({ bare }) => bare.perSecond) },
    ],
  },
  'at-size.svg': {
    title: 'Processor time of a creation, by payments in the store',
    unit: 'milliseconds',
    labels: rows.map(({ payments }) => payments.toLocaleString('en')),
    series: [{ name: 'gateway', colour: blue, values: rows.map(({ cpuMs }) => cpuMs) }],
  },
};
for (const [file, chart] of Object.entries(charts)) writeFileSync(join(folder, file), draw(chart));
