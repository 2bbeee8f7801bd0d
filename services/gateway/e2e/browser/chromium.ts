/** The real browser of these specs. */
import axe from 'axe-core';
import { type Browser, type Page, chromium } from 'playwright-core';

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-sync', '--disable-background-networking', '--disable-component-update'],
    ],
  });

interface Found {
  violations: { id: string; impact: string; nodes: { html: string }[] }[];
}

/** Serious accessibility faults of a page. */
export async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<Found>("axe.run(document, { resultTypes: ['violations'] })");
  const isSerious = ({ impact }: Found['violations'][number]) =>
    impact === 'serious' || impact === 'critical';
  return violations.filter(isSerious).map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`);
}
