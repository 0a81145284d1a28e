import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCallName } from '@portcullis/service-kit/cli/call-name'

const caller = {
  name: 'auth',
  packageName: '@portcullis/auth',
  env: {},
  executable: process.execPath,
  script: '/x/src/main.ts',
}
const inNpx = '/home/ada/.npm/_npx/1234/node_modules/.bin/auth'

for (const [shown, changes] of [
  ['auth admin', {}],
  ['portcullis-auth admin', { script: '/usr/local/bin/portcullis-auth' }],
  ['npm run auth -- admin', { env: { npm_lifecycle_event: 'auth' } }],
  ['npx auth admin', { env: { npm_lifecycle_event: 'npx' }, script: 'node_modules/.bin/auth' }],
  ['npx @portcullis/auth admin', { env: { npm_lifecycle_event: 'npx' }, script: inNpx }],
  ['npx portcullis auth admin', { executable: 'npx portcullis auth' }],
  ['npx auth admin', { env: { npm_lifecycle_event: 'start' }, startCommand: 'up' }],
] as const) {
  test(`it is called ${shown} with ${JSON.stringify(changes)}`, () => {
    assert.equal(createCallName({ ...caller, ...changes })('admin'), shown)
  })
}

test('the command that npm start runs is shown as npm start', () => {
  const env = { npm_lifecycle_event: 'start' }
  assert.equal(createCallName({ ...caller, env, startCommand: 'up' })('up'), 'npm start --')
})
