/** What may be kept of a card number: the first six and the last four digits. */
export const keptDigits = (pan: string): string => `${pan.slice(0, 6)}${pan.slice(-4)}`;

/** The same as printed, for example `439296******1251`. */
export const maskOf = (pan: string): string =>
  `${pan.slice(0, 6)}${'*'.repeat(pan.length - 10)}${pan.slice(-4)}`;
