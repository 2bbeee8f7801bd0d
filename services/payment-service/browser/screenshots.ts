/** Takes screenshots of every page: `npx node services/payment-service/browser/screenshots.ts`. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { approvedCard, authenticatedCard, declinedCard } from '../src/testing/samples.ts';
import { devices } from 'playwright-core';
import { entries, fillIn, openScene, payButton, press, type Scene } from './customer.ts';

const looks = [
  { name: '360', options: { ...devices['Galaxy S9+'], viewport: { width: 360, height: 740 } } },
  { name: '768', options: { ...devices['iPad Mini'] } },
  { name: '1280', options: { viewport: { width: 1280, height: 800 } } },
  { name: '360-dark', options: { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } },
  { name: '1280-dark', options: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' } },
] as const;

async function takePictures(scene: Scene, folder: string): Promise<void> {
  const order = {
    product: 'Darjeeling First Flush, 250 g',
    amount: 4_990,
    orderNumber: 'pay_jf3eput2ajepzunav74niglt4b.1',
  };
  for (const { name, options } of looks) {
    const { page } = await scene.newCustomer(options);
    const shoot = (what: string) =>
      page.screenshot({ path: join(folder, `${what}-${name}.png`), fullPage: true });
    const open = async (fields: object = {}) =>
      page.goto(scene.checkoutUrl(await scene.harness.create({ ...order, ...fields })));
    const pay = async (number: string) => {
      await fillIn(page, entries(number));
      await press(payButton(page));
    };
    await open();
    await shoot('card');
    await page.locator('#number').pressSequentially('4392963203551252');
    await page.locator('#expiry').pressSequentially('1230');
    await page.keyboard.press('Tab');
    await shoot('typing');
    await fillIn(page, { number: '', expiry: '13/99' });
    await press(payButton(page));
    await shoot('error');
    await pay(authenticatedCard);
    await shoot('authentication');
    await press(payButton(page));
    await shoot('approved');
    await open({ redirectFailUrl: undefined, locale: 'de' });
    await pay(declinedCard);
    await shoot('declined-de');
    const token = await scene.harness.create({ ...order, ...scene.shop.redirects });
    await page.goto(scene.checkoutUrl(token));
    await pay(approvedCard);
    await page.goto(scene.checkoutUrl(token));
    await shoot('approved-shop');
    await page.goto(scene.checkoutUrl('none'));
    await shoot('trouble');
  }
}

const folder = await mkdtemp(join(tmpdir(), 'checkout-screenshots-'));
const scene = await openScene();
try {
  await takePictures(scene, folder);
} finally {
  await scene.close();
}
process.stdout.write(`${folder}\n`);
