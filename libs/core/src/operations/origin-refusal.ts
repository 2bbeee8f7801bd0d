/** URLs of a new request that its team has not allowed. */
import { isAllowedOrigin, isAllowedRedirect } from '@tollgate/service-kit';
import type { Requester } from '../domain/requester.ts';

export interface OriginRefusal {
  code: 'origin_not_allowed';
  parameter: string;
  purpose: 'callbacks' | 'redirects';
}

/** The first URL of a new request that its team has not allowed; undefined if there is none. */
export function originRefusal(
  addresses: {
    callbackUrl?: string | undefined;
    redirectSuccessUrl?: string | undefined;
    redirectFailUrl?: string | undefined;
  },
  { allowedOrigins }: Requester,
): OriginRefusal | undefined {
  const { callbackUrl, redirectSuccessUrl, redirectFailUrl } = addresses;
  const code = 'origin_not_allowed';
  if (callbackUrl !== undefined && !isAllowedOrigin(callbackUrl, allowedOrigins.callback))
    return { code, parameter: 'callbackUrl', purpose: 'callbacks' };
  for (const [parameter, url] of Object.entries({ redirectSuccessUrl, redirectFailUrl }))
    if (url !== undefined && !isAllowedRedirect(url, allowedOrigins.redirect))
      return { code, parameter, purpose: 'redirects' };
  return undefined;
}
