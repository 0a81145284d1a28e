import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toJavaScriptImports, withoutRepositoryLinks } from '../build-package.ts'

test('declarations import JavaScript, while the examples in their comments stay', () => {
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

test('a published README has no links into the repository', () => {
  const before =
    'The [manual](../../docs/graphql.md), the [spec](https://example.com), [below](#more).'
  const after = 'The manual, the [spec](https://example.com), [below](#more).'
  assert.equal(withoutRepositoryLinks(before), after)
})
