/** Times in the reader's zone, with its name; the tooltip has UTC. Relative times are updated. */
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const full = new Intl.DateTimeFormat('sv-SE', {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const clock = new Intl.DateTimeFormat('sv-SE', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});
const named = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' });
const zoneAt = (at) => named.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? zone;
const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

function relativeText(at) {
  const distance = at - Date.now();
  const [length, name] = units.find(([each]) => Math.abs(distance) >= each) ?? [1_000, 's'];
  const count = Math.round(Math.abs(distance) / length);
  if (count === 0) return 'now';
  return distance > 0 ? `in ${count} ${name}` : `${count} ${name} ago`;
}

function show(element) {
  const at = new Date(element.dateTime);
  if (element.dataset.form === 'relative') element.textContent = relativeText(at.getTime());
  else if (element.dataset.form === 'clock') element.textContent = clock.format(at).replace(',', '.');
  else if (element.dataset.form === 'short') element.textContent = full.format(at).slice(11);
  else if (element.dataset.form === 'column') element.textContent = full.format(at);
  else element.textContent = `${full.format(at)} ${zoneAt(at)}`;
  if (!element.title.includes(zone)) element.title = `${full.format(at)} ${zone}\n${element.title}`;
}

const day = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
});

/** Inserts a row with the date above the rows of each day, in the reader's zone. */
function divideByDay(table) {
  let last = [...document.querySelectorAll('table[data-days]')].indexOf(table) > 0 ? lastDay : undefined;
  for (const row of table.querySelectorAll('tr[data-row]')) {
    const time = row.querySelector('time');
    if (time === null) return;
    const text = day.format(new Date(time.dateTime));
    if (text !== last) {
      const cell = document.createElement('th');
      Object.assign(cell, { colSpan: row.cells.length, scope: 'rowgroup', textContent: text });
      const divider = document.createElement('tr');
      divider.className = 'day';
      divider.append(cell);
      row.before(divider);
    }
    last = text;
  }
  lastDay = last;
}
let lastDay;

export function showTimes(root) {
  for (const element of root.querySelectorAll('time')) show(element);
  for (const table of root.querySelectorAll('table[data-days]')) divideByDay(table);
  for (const element of root.querySelectorAll('[data-zone]')) element.textContent = zoneAt(new Date());
}

/** A time in minutes, in the format of a field, in UTC and in the reader's zone. */
export const toLocal = (utc) =>
  full
    .format(new Date(`${utc}Z`))
    .slice(0, 16)
    .replace(' ', 'T');
export const toUtc = (local) => new Date(local).toISOString().slice(0, 16);

setInterval(() => {
  for (const element of document.querySelectorAll('time[data-form="relative"]')) show(element);
}, 1_000);
