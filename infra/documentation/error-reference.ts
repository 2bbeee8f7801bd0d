/** The error codes, for `docs/team/errors.md`. */
import { apiErrors, type ErrorCode, statedError } from '@tollgate/gateway-api/http';

interface ExplainedError {
  code: ErrorCode;
  message: string;
  repeat: string;
  /** Status, kind and, if it is always the same one, the parameter at fault. */
  about: string;
}

const explainedErrors: readonly ExplainedError[] = (Object.keys(apiErrors) as ErrorCode[])
  .toSorted()
  .map((code) => {
    const { kind, status, message, parameter, retryAfterSeconds } = statedError(code);
    const repeat =
      retryAfterSeconds === undefined
        ? 'An unchanged retry fails again.'
        : `An unchanged retry may succeed after ${retryAfterSeconds} s, or after the time in Retry-After.`;
    const facts = [`${status}`, kind, ...(parameter === undefined ? [] : [`parameter ${parameter}`])];
    return { code, message, repeat, about: facts.join(' · ') };
  });

const aboutForeignErrors = 'The code and its message come from the Payment Service, unchanged.';

const opening = `# Error codes

This page is generated from the table of error codes (\`npm run reference\`). A running gateway serves it at \`/docs/errors\`, and the
\`docUrl\` of each error links to it. Most clients need only [the six outcomes of a call](outcomes.md).
`;

/** \`docs/team/errors.md\`. */
export const createErrorDocument = (): string =>
  [
    opening,
    ...explainedErrors.map(
      ({ code, message, repeat, about }) => `## \`${code}\`\n\n${message} ${repeat}\n\n${about}\n`,
    ),
    `## Of the Payment Service\n\n${aboutForeignErrors}\n`,
  ].join('\n');
