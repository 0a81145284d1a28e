import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toInsideImports, toJavaScriptImports, toJavaScriptPrograms } from '../module-references.ts'

test('declarations import JavaScript, while the examples in their comments are unchanged', () => {
  const before = `import { type A } from './a.ts';
/**
 * import { schema } from './schema.ts'
 */
export { b } from "../b/index.ts";
export declare const c: typeof import('./c.ts').c;
import type { D } from 'some-package/d.ts';
`
  const after = `import { type A } from './a.js';
/**
 * import { schema } from './schema.ts'
 */
export { b } from "../b/index.js";
export declare const c: typeof import('./c.js').c;
import type { D } from 'some-package/d.ts';
`
  assert.equal(toJavaScriptImports(before), after)
})

test('programs that are started by their path refer to compiled files', () => {
  const before = `const program = join(import.meta.dirname, 'worker-main.ts');
new Worker(new URL('./parse-worker.ts', import.meta.url), {
const manifest = new URL('../package.json', import.meta.url);
// new URL('./in-a-comment.ts', import.meta.url)
const text = 'the file main.ts';
`
  const after = `const program = join(import.meta.dirname, 'worker-main.js');
new Worker(new URL('./parse-worker.js', import.meta.url), {
const manifest = new URL('../package.json', import.meta.url);
// new URL('./in-a-comment.ts', import.meta.url)
const text = 'the file main.ts';
`
  assert.equal(toJavaScriptPrograms(before), after)
})

test('bundled packages are imported by their path, and other packages by their name', () => {
  const inside = [{ name: '@portcullis/kit', folder: 'kit' }]
  const before = `import { log } from '@portcullis/kit/log';
const { run } = await import("@portcullis/kit/run/program");
import { other } from '@portcullis/kitchen/log';
`
  const after = `import { log } from '../../kit/log.js';
const { run } = await import("../../kit/run/program.js");
import { other } from '@portcullis/kitchen/log';
`
  assert.equal(toInsideImports(before, 'lib/commands/serve.js', inside), after)
})
