type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** The fields that have a value: an absent field is left out, never `undefined`. */
export function given<Fields extends Record<string, unknown>>(fields: Fields): Given<Fields> {
  // Several times in each request: without a list of the fields, which costs four times as much.
  const present: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) if (fields[name] !== undefined) present[name] = fields[name];
  return present as Given<Fields>;
}
