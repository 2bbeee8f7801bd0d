import type { z } from 'zod';
import { didYouMean } from './did-you-mean.ts';
import type { ErrorEntry } from './http-server.ts';

/** Maximum entries of one error answer: a body with thousands of faults also gets a short answer. */
const entriesMax = 20;
const parameterLengthMax = 64;

/**
 * The faults of a request as entries of the specification's error body, each with its parameter.
 *
 * @param codeOf returns the code for an invalid value of a parameter; `invalid_param` by default, and for unknown parameters
 * @param known the existing parameters, listed for an unknown one
 * @param fields those of a body: too many to list, but one of them may be meant
 */
export function toErrorEntries(
  error: z.ZodError,
  codeOf: (parameter: string) => string | undefined = () => undefined,
  known: readonly string[] = [],
  fields: readonly string[] = [],
): ErrorEntry[] {
  const faults = error.issues.flatMap((issue) => toFaults(issue, known, fields)).slice(0, entriesMax);
  return faults.map(({ parameter, message, isUnknown }) => ({
    code: (isUnknown === true ? undefined : codeOf(parameter)) ?? 'invalid_param',
    kind: 'invalid_request_error',
    message: `${parameter} ${message}`,
    parameter,
  }));
}

interface Fault {
  parameter: string;
  message: string;
  isUnknown?: true;
}

function toFaults(issue: z.core.$ZodIssue, known: readonly string[], fields: readonly string[]): Fault[] {
  const path = issue.path.map(String);
  const hint = known.length === 0 ? '' : ` The known ones are ${known.join(', ')}.`;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      parameter: nameOf([...path, key]),
      message: `is not a known parameter.${hint}${didYouMean(key, path.length === 0 ? [...known, ...fields] : [])}`,
      isUnknown: true,
    }));
  return [{ parameter: nameOf(path), message: `${describe(issue)}.` }];
}

/** The name of a parameter in an error: bounded, because the caller may have made it up. */
export const nameOf = (path: readonly string[]): string =>
  path.length === 0 ? 'body' : path.join('.').slice(0, parameterLengthMax);

// Our schemas phrase what a value must be; zod's own texts are converted to the same form.
function describe(issue: z.core.$ZodIssue): string {
  if (/^(must|is|has|needs|may|belongs|holds|contains) /.test(issue.message)) return issue.message;
  if (issue.code === 'invalid_type')
    return issue.message.endsWith('received undefined') ? 'is missing' : `must be of type ${issue.expected}`;
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'too_big') return `must be at most ${String(issue.maximum)}${unitOf(issue.origin)}`;
  if (issue.code === 'too_small') return `must be at least ${String(issue.minimum)}${unitOf(issue.origin)}`;
  return 'is not valid';
}

const unitOf = (origin: string): string => (origin === 'string' ? ' characters' : '');
