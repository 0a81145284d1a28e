import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toVersionMenu } from '../src/version-menu.ts'
import { earlierVersions } from '../versions.ts'

const findUrl = (source: string) => `/pages/${source}`
const links = [
  { text: 'Changelog', link: '/pages/CHANGELOG.md' },
  { text: 'Versions and support', link: '/pages/docs/releases.md' },
]

test('the menu shows the version of the pages, the changelog and the support policy', () => {
  assert.deepEqual(toVersionMenu('0.1.0', [], findUrl), { text: 'v0.1.0', items: links })
})

test('an earlier version is listed in the menu', () => {
  const earlier = [{ version: '0.1.0', url: 'https://docs.example.com/0.1/' }]
  assert.deepEqual(toVersionMenu('0.2.0', earlier, findUrl), {
    text: 'v0.2.0',
    items: [
      ...links,
      {
        text: 'Earlier versions',
        items: [{ text: 'v0.1.0', link: 'https://docs.example.com/0.1/', target: '_self' }],
      },
    ],
  })
})

test('earlier versions have full addresses, which VitePress does not change', () => {
  for (const { url } of earlierVersions) assert.match(url, /^https:\/\/.+\/$/)
})
