import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signOAuth1, toOAuth1Header } from '../../../src/plugins/providers/oauth/oauth1.ts'

test('the examples in RFC 5849, section 1.2, have the documented signatures', () => {
  const client = 'kd94hf93k423kf44'
  const always = { oauth_consumer_key: 'dpf43f3p2l4k3l03', oauth_signature_method: 'HMAC-SHA1' }
  const first = signOAuth1(
    {
      method: 'POST',
      url: 'https://photos.example.net/initiate',
      parameters: {
        ...always,
        oauth_timestamp: '137131200',
        oauth_nonce: 'wIjqoS',
        oauth_callback: 'http://printer.example.com/ready',
      },
    },
    { client, token: '' },
  )
  assert.equal(encodeURIComponent(first), '74KNZJeDHnMBp0EMJ9ZHt%2FXKycU%3D')
  const second = signOAuth1(
    {
      method: 'POST',
      url: 'https://photos.example.net/token',
      parameters: {
        ...always,
        oauth_token: 'hh5s93j4hdidpola',
        oauth_timestamp: '137131201',
        oauth_nonce: 'walatlh',
        oauth_verifier: 'hfdp7dh39dks9884',
      },
    },
    { client, token: 'hdhd0244k9j7ao03' },
  )
  assert.equal(encodeURIComponent(second), 'gKgrFCywp7rO0OXSjdot%2FIHF7IU%3D')
  const third = signOAuth1(
    {
      method: 'GET',
      url: 'http://photos.example.net/photos?file=vacation.jpg&size=original',
      parameters: {
        ...always,
        oauth_token: 'nnch734d00sl2jdk',
        oauth_timestamp: '137131202',
        oauth_nonce: 'chapoH',
      },
    },
    { client, token: 'pfkkdhi9sl3r4s00' },
  )
  assert.equal(encodeURIComponent(third), 'MdpQcU8iPSUjWoN%2FUDMsK2sui9I%3D')
})

test('the example in the Twitter documentation has the documented signature', () => {
  const query = new URLSearchParams({
    include_entities: 'true',
    status: 'Hello Ladies + Gentlemen, a signed OAuth request!',
  })
  const signature = signOAuth1(
    {
      method: 'POST',
      url: `https://api.twitter.com/1.1/statuses/update.json?${query}`,
      parameters: {
        oauth_consumer_key: 'xvz1evFS4wEEPTGEFPHBog',
        oauth_nonce: 'kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg',
        oauth_signature_method: 'HMAC-SHA1',
        oauth_timestamp: '1318622958',
        oauth_token: '370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb',
        oauth_version: '1.0',
      },
    },
    {
      client: 'kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw',
      token: 'LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE',
    },
  )
  assert.equal(signature, 'hCtSmYh+iHYCEqBWrE7C7hYmtUk=')
})

test('parameters are percent-encoded more strictly than in URLs, then sorted', () => {
  const secrets = { client: 'c', token: '' }
  const signatureOf = (query: string) =>
    signOAuth1({ method: 'GET', url: `https://a.example/x?${query}`, parameters: {} }, secrets)
  assert.equal(signatureOf('a=1&b=2'), signatureOf('b=2&a=1'))
  assert.equal(signatureOf('a=2&a=1'), signatureOf('a=1&a=2'))
  assert.equal(signatureOf('a=+'), signatureOf('a=%20'))
  assert.notEqual(signatureOf('a=1&b=2'), signatureOf('a=1%26b=2'))
  const header = toOAuth1Header(
    { method: 'GET', url: 'https://a.example/', parameters: { name: "it's (a*) b!" } },
    secrets,
  )
  assert.match(header, /^OAuth name="it%27s%20%28a%2A%29%20b%21", oauth_signature="[\w%]+"$/)
})
