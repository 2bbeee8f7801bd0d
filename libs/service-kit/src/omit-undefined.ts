type WithoutUndefined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/** Copies an object without its undefined fields. */
export function omitUndefined<Fields extends Record<string, unknown>>(
  fields: Fields,
): WithoutUndefined<Fields> {
  // Runs several times per request. `Object.entries` takes four times as long.
  const defined: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) if (fields[name] !== undefined) defined[name] = fields[name];
  return defined as WithoutUndefined<Fields>;
}
