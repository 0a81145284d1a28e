import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { endpoints } from '../../packages/auth/src/features/index.ts'
import { createOpenApiDocument, toAuthApiPage } from '../src/auth-api-page.ts'
import { findAnchors } from '../src/document.ts'
import { toRuleKeysPage } from '../src/rule-keys-page.ts'
import { loadSite, root } from '../src/site.ts'

test('the page of the HTTP API has each endpoint once', () => {
  const page = toAuthApiPage(createOpenApiDocument('1.2.3'))
  const documented = [...page.matchAll(/^### ([A-Z]+ \/\S*)$/gm)].map(([, name]) => name)
  // The document does not describe the endpoint that serves it.
  const served = endpoints
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    .filter((name) => name !== 'GET /openapi.json')
  assert.deepEqual(documented.toSorted(), served.toSorted())
})

test('each feature of the auth server has its own chapter', () => {
  const page = toAuthApiPage(createOpenApiDocument('1.2.3'))
  const chapters = Object.fromEntries(
    page.split(/^## /m).map((text) => [text.split('\n')[0], text] as const),
  )
  for (const [title, endpoint] of [
    ['OAuth server', 'POST /oauth/token'],
    ['OAuth server', 'GET /user/oauth/grants'],
    ['Single sign-on', 'POST /sso'],
    ['SCIM', 'GET /scim/v2/Users'],
    ['API keys', 'POST /user/api-keys'],
    ['Verification for your APIs', 'GET /revocations'],
    ['Administration', 'POST /admin/oauth/clients'],
    ['Sign-up, sign-in and recovery', 'POST /signup'],
  ] as const) {
    assert.ok(chapters[title]?.includes(`### ${endpoint}\n`), endpoint)
  }
})

test('an endpoint has its caller, parameters, fields and responses', () => {
  const page = toAuthApiPage(createOpenApiDocument('1.2.3'))
  const [, resend = ''] = /^### POST \/otp\n(.*?)^###? /ms.exec(page) ?? []
  assert.match(resend, /\*\*Caller:\*\* anyone/)
  assert.match(resend, /\| `redirect_to` \| query \|/)
  assert.match(resend, /\| `create_user` \| boolean \|/)
  assert.match(resend, /\| 200 \| .+ \|\n\| others \| \[an error\]\(#errors\) \|/)
})

test('the page of rule keys has every key of the schema, with type and default', () => {
  const schema = readFileSync(join(root, 'packages/ratelimit/schema/rules.schema.json'), 'utf8')
  const page = toRuleKeysPage(JSON.parse(schema))
  assert.deepEqual(findAnchors(page).slice(1), ['a-file', 'rule', 'rate_limit', 'replaced_name'])
  assert.match(page, /\| `domain` \(required\) \| string or integer or boolean \|/)
  assert.match(page, /\| `descriptors` \(required\) \| array of \[rule\]\(#rule\) \|/)
  assert.match(page, /\| `unit` \| `second`, `minute`, .* \|/)
  assert.match(page, /\| `shadow_mode` \| boolean \| .* Default: `false`\. \|/)
})

test('links of generated pages refer to pages of the site', () => {
  const { pages } = loadSite()
  const urls = new Set([...pages.map(({ url }) => url), '/openapi.json'])
  const links = pages
    .filter(({ source }) => source === undefined)
    .flatMap(({ text }) => [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, link = '']) => link))
  assert.ok(links.length > 0)
  assert.deepEqual(
    links.filter((link) => !urls.has(link)),
    [],
  )
})
