import assert from 'node:assert/strict'
import type { ProviderShape } from '../provider-shape.ts'

const ofProfile = '(id,firstName,lastName,profilePicture(displayImage~:playableStreams))'

/** According to the documentation of version 2, before OpenID Connect. */
export const linkedin: ProviderShape = {
  id: 'linkedin',
  authorizePath: '/oauth/v2/authorization',
  tokenPath: '/oauth/v2/accessToken',
  scopes: ['r_emailaddress', 'r_liteprofile'],
  credentials: 'body',
  tokenFields: () => ({ refresh_token: undefined }),
  api: {
    '/v2/me': ({ email: _, ...user }, { url }) => {
      assert.equal(url.searchParams.get('projection'), ofProfile)
      return user
    },
    '/v2/emailAddress': ({ email }, { url }) => {
      assert.equal(url.searchParams.get('q'), 'members')
      assert.equal(url.searchParams.get('projection'), '(elements*(handle~))')
      const handle = 'urn:li:emailAddress:3775708763'
      return { elements: email ? [{ 'handle~': { emailAddress: email }, handle }] : [] }
    },
  },
  example: {
    account: {
      id: 'yrZCpj2Z12',
      firstName: {
        localized: { en_US: 'Katherine', fr_FR: 'Catherine' },
        preferredLocale: { country: 'US', language: 'en' },
      },
      lastName: {
        localized: { en_US: 'Johnson' },
        preferredLocale: { country: 'US', language: 'en' },
      },
      profilePicture: {
        displayImage: 'urn:li:digitalmediaAsset:C4D00AAAAbBCDEFGhiJ',
        'displayImage~': {
          paging: { count: 10, start: 0, links: [] },
          elements: [
            {
              artifact: 'urn:li:digitalmediaMediaArtifact:(100)',
              authorizationMethod: 'PUBLIC',
              identifiers: [
                {
                  identifier: 'https://media.linkedin.example/100',
                  index: 0,
                  mediaType: 'image/jpeg',
                },
              ],
            },
            {
              artifact: 'urn:li:digitalmediaMediaArtifact:(200)',
              identifiers: [{ identifier: 'https://media.linkedin.example/200', index: 0 }],
            },
          ],
        },
      },
      email: 'katherine@linkedin.example',
    },
    identityData: {
      iss: 'URL',
      sub: 'yrZCpj2Z12',
      provider_id: 'yrZCpj2Z12',
      email: 'katherine@linkedin.example',
      email_verified: true,
      phone_verified: false,
      name: 'Katherine Johnson',
      full_name: 'Katherine Johnson',
      picture: 'https://media.linkedin.example/100',
      avatar_url: 'https://media.linkedin.example/100',
    },
    withoutEmail: { id: 'yrZCpj2Z13', email: undefined },
    withoutId: { id: undefined },
  },
}
