import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../../src/config/config.ts'

const notesOf = (env: Readonly<Record<string, string>>) =>
  parseConfig({ AUTH_SITE_URL: 'https://site.example', ...env }).notes.filter((note) =>
    note.includes('internal network'),
  )
const template = 'GOTRUE_MAILER_TEMPLATES_INVITE'

test('templates on internal hosts are reported at startup with the setting that allows them', () => {
  assert.deepEqual(
    notesOf({
      [template]: 'http://kong:8000/invite.html',
      AUTH_MAILER_TEMPLATES_RECOVERY: 'http://kong:8000/recovery.html',
      AUTH_MAILER_TEMPLATE_ALLOWED_HOSTS: 'templates.lan',
    }),
    [
      `${template}, AUTH_MAILER_TEMPLATES_RECOVERY: kong is a host of the internal network, from which no ` +
        'template is fetched, so the built-in template is used. To allow it, set ' +
        'AUTH_MAILER_TEMPLATE_ALLOWED_HOSTS=templates.lan,kong',
    ],
  )
})

test('a host is internal by its name or address', () => {
  const internal = [
    ...['kong', 'localhost', 'host.docker.internal', 'a.b.local', 'box.lan', 'x.home.arpa'],
    ...['10.1.2.3', '127.0.0.1', '172.20.0.4', '192.168.1.1', '100.64.0.1', '[::1]', '[fd00::1]'],
  ]
  for (const host of internal) {
    assert.equal(notesOf({ [template]: `http://${host}/t.html` }).length, 1, host)
    const allowed = { AUTH_MAILER_TEMPLATE_ALLOWED_HOSTS: host }
    assert.deepEqual(notesOf({ [template]: `http://${host}/t.html`, ...allowed }), [], host)
  }
  for (const host of ['cdn.example.com', '8.8.8.8', '[2606:4700::1]', 'site.example']) {
    assert.deepEqual(notesOf({ [template]: `https://${host}/t.html` }), [], host)
  }
})

test('a path of the site, and templates that a hook replaces, are not reported', () => {
  assert.deepEqual(notesOf({ [template]: '/mail/invite.html' }), [])
  assert.deepEqual(notesOf({ AUTH_SITE_URL: 'http://localhost:3000', [template]: '/t.html' }), [])
  const hooked = {
    AUTH_HOOK_SEND_EMAIL_ENABLED: 'true',
    AUTH_HOOK_SEND_EMAIL_URI: 'pg-functions://postgres/public/send_email',
  }
  assert.deepEqual(notesOf({ [template]: 'http://kong:8000/t.html', ...hooked }), [])
})
