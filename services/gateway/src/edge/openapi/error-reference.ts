/** The error codes, as the page of the gateway and the document of `docs/` tell of them: out of the list that services answer by. */
import { apiErrors, type ErrorCode, statedError } from '@tollgate/gateway-api/http';

export interface ExplainedError {
  code: ErrorCode;
  message: string;
  repeat: string;
  /** Status, kind and, where it is always the same one, the parameter at fault. */
  about: string;
}

export const explainedErrors: readonly ExplainedError[] = (Object.keys(apiErrors) as ErrorCode[])
  .toSorted()
  .map((code) => {
    const { kind, status, message, parameter, retryAfterSeconds, since } = statedError(code);
    const repeat =
      retryAfterSeconds === undefined
        ? 'Repeated unchanged, it fails again.'
        : `The same request may be repeated after ${retryAfterSeconds} s, unless Retry-After says otherwise.`;
    const facts = [`${status}`, kind, ...(parameter === undefined ? [] : [`parameter ${parameter}`])];
    return { code, message, repeat, about: [...facts, `since ${since}`].join(' · ') };
  });

export const aboutForeignErrors = "It is the Payment Service's own, passed on unchanged with its message.";

const opening = `# Error codes

Written by \`npm run reference\` out of the list that the services answer by. A running gateway shows the same at \`/docs/errors\`, where the \`docUrl\` of each error leads. What your
code does about an error depends on few of them: [the six outcomes of a call](outcomes.md).
`;

/** \`docs/team/errors.md\`. */
export const createErrorDocument = (): string =>
  [
    opening,
    ...explainedErrors.map(
      ({ code, message, repeat, about }) => `## \`${code}\`\n\n${message} ${repeat}\n\n${about}\n`,
    ),
    `## Any other code\n\n${aboutForeignErrors}\n`,
  ].join('\n');
