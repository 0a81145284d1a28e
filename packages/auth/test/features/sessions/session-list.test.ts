import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toDeviceName } from '../../../src/features/sessions/session-list.ts'

test('a user agent is shown as a browser and an operating system', () => {
  const names = {
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0':
      'Edge on Windows',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15':
      'Safari on macOS',
    'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36':
      'Chrome on Android',
    'curl/8.14.1': 'curl',
    node: 'Node.js',
    '': 'Unknown device',
    '<script>alert(1)</script>': 'Unknown device',
  }
  for (const [userAgent, name] of Object.entries(names)) assert.equal(toDeviceName(userAgent), name)
})
