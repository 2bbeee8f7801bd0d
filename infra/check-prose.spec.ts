import { expect, test } from 'vitest';
import { figuresOf, sentencesOf, wordsToAvoid } from './check-prose.ts';

test('a sentence is counted without code, tables, headings and link targets', () => {
  const page = [
    '# A heading with many words that is not a sentence',
    'Send the request again. It is `npm run x` in [the guide](a/b.md).',
    '',
    '- The first item ends here',
    '- The second item begins here',
    '',
    '| a table | with words |',
    '```sh',
    'nobody reads this',
    '```',
  ].join('\n');
  expect(sentencesOf(page)).toEqual([
    'Send the request again.',
    'It is Code in the guide.',
    'The first item ends here',
    'The second item begins here',
  ]);
  expect(figuresOf('page', page)).toMatchObject({ sentences: 4, mean: 5, ninetyFifth: 6, hits: [] });
});

test.each([
  ['Nobody is told.', ['told', 'Nobody']],
  ['What is open is inquired.', ['What is open is']],
  ['A payment of ours stands beside it.', ['of ours', 'stands beside']],
  ['Nobody is charged twice.', []],
  ['What is a review?', []],
])('%s', (text, hits) => {
  expect(figuresOf('page', text).hits.map((hit) => hit.text)).toEqual(hits);
});

test('the glossary lists words to avoid', () => {
  const page = [
    '## Words to avoid',
    '| write | never |',
    '| --- | --- |',
    '| review | attention, a matter |',
  ].join('\n');
  expect(wordsToAvoid(page)).toEqual([
    [/\battention\b/giu, 'review'],
    [/\ba matter\b/giu, 'review'],
  ]);
});
