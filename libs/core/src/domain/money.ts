/** Amounts, currencies and minor units; the statuses and errors that the specification names. */
import { z } from 'zod';

/**
 * ISO 4217 active alphabetic codes with their minor-unit digits (list one of the standard, amendments 1 to 180).
 * Precious metals, testing codes and units without a minor unit (XAU, XTS, XDR) cannot be charged and are absent. `Intl` is
 * no replacement: its digits are CLDR's, which differ (HUF, COP and IDR have 2 here, 0 there).
 */
const codesByMinorUnitDigits: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2:
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW ' +
    'CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF ' +
    'IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK ' +
    'MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP ' +
    'SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ' +
    'ZAR ZMW ZWG',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

const minorUnitDigitsByCode: ReadonlyMap<string, number> = new Map(
  Object.entries(codesByMinorUnitDigits).flatMap(([digits, codes]) =>
    codes.split(' ').map((code) => [code, Number(digits)] as const),
  ),
);

/** True if `code` is an active ISO 4217 alphabetic code in capitals. */
export const isCurrency = (code: string): boolean => minorUnitDigitsByCode.has(code);

/** Decimal digits between the major and the minor unit, by ISO 4217; undefined for an unknown code. */
export const minorUnitDigits = (code: string): number | undefined => minorUnitDigitsByCode.get(code);

/** An amount in minor units for people, without grouping: `formatAmount(123450, 'EUR')` is `1234.50 EUR`. */
export function formatAmount(amount: number | bigint, currency: string): string {
  const digits = minorUnitDigits(currency) ?? 0;
  const sign = amount < 0 ? '-' : '';
  const text = String(amount)
    .replace('-', '')
    .padStart(digits + 1, '0');
  const major = text.slice(0, text.length - digits);
  return `${sign}${major}${digits > 0 ? `.${text.slice(-digits)}` : ''} ${currency}`;
}

/** The six states of a payment (specification, section 3). */
export const paymentStatuses = ['init', 'pending', 'approved', 'declined', 'refunded', 'expired'] as const;
export const paymentStatusSchema = z.enum(paymentStatuses);
export type PaymentStatus = z.infer<typeof paymentStatusSchema>;

/** States that the specification marks as final (section 3). */
export const isFinalStatus = (status: PaymentStatus): boolean => status !== 'init' && status !== 'pending';

/** Distinguishes a missing field from an invalid one. */
export const orMissing = (message: string) => ({
  error: ({ input }: { input?: unknown }) => (input === undefined ? 'is missing' : message),
});

/** An amount in minor units: a safe integer of at least 1 (section 2). */
export const amountSchema = z
  .int(orMissing('must be an integer in minor units'))
  .min(1, 'must be at least 1');

/** ISO 4217 alphabetic code in capitals (section 2, "alphabetic code"). */
export const currencySchema = z
  .string(orMissing('must be an ISO 4217 alphabetic code in capitals, for example EUR'))
  .refine(isCurrency, 'must be an ISO 4217 alphabetic code in capitals, for example EUR');

/** The error types of section 7, and those that known deployments add. */
export type SpecifiedErrorKind =
  'api_error' | 'authentication_error' | 'invalid_request_error' | 'processing_error';

/** One entry of an error answer (section 7). `parameter` names the request field at fault, if any. */
export const apiErrorSchema = z.object({
  code: z.string(),
  kind: z.string(),
  message: z.string().optional(),
  parameter: z.string().optional(),
});
export type ApiError = z.infer<typeof apiErrorSchema>;
