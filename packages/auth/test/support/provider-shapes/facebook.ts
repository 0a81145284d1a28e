import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { ProviderShape } from '../provider-shape.ts'

/** An app with the setting that requires an app secret proof. */
export const facebook: ProviderShape = {
  id: 'facebook',
  authorizePath: '/dialog/oauth',
  tokenPath: '/oauth/access_token',
  scopes: ['email'],
  credentials: 'body',
  tokenFields: () => ({ refresh_token: undefined }),
  api: {
    '/me': (account, { url, accessToken, secret }) => {
      const proof = createHmac('sha256', secret).update(accessToken).digest('hex')
      assert.equal(url.searchParams.get('appsecret_proof'), proof)
      const fields = (url.searchParams.get('fields') ?? '').split(',')
      const entries = Object.entries(account)
      return Object.fromEntries(entries.filter(([name]) => ['id', ...fields].includes(name)))
    },
  },
  example: {
    account: {
      id: '10160000000000001',
      name: 'Hedy Lamarr',
      first_name: 'Hedy',
      last_name: 'Lamarr',
      email: 'hedy@facebook.example',
      birthday: '11/09/1914',
      picture: {
        data: {
          height: 50,
          width: 50,
          is_silhouette: false,
          url: 'https://platform-lookaside.facebook.example/pic?asid=1',
        },
      },
    },
    identityData: {
      iss: 'URL',
      sub: '10160000000000001',
      provider_id: '10160000000000001',
      email: 'hedy@facebook.example',
      email_verified: true,
      phone_verified: false,
      name: 'Hedy Lamarr',
      full_name: 'Hedy Lamarr',
      nickname: 'Hedy Lamarr',
      slug: 'Hedy Lamarr',
      picture: 'https://platform-lookaside.facebook.example/pic?asid=1',
      avatar_url: 'https://platform-lookaside.facebook.example/pic?asid=1',
    },
    // This user signed up with a phone number.
    withoutEmail: { id: '10160000000000002', email: undefined },
    withoutId: { id: undefined },
  },
}
