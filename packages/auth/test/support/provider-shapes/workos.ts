import type { ProviderShape } from '../provider-shape.ts'

/** The token response contains the profile, so there is no other API request. */
export const workos: ProviderShape = {
  id: 'workos',
  authorizePath: '/sso/authorize',
  tokenPath: '/sso/token',
  scopes: [],
  parameters: { connection: 'conn_01E4ZCR3C56J083X43JQXF3JK5' },
  query: { connection: 'conn_01E4ZCR3C56J083X43JQXF3JK5' },
  credentials: 'body',
  tokenFields: (profile) => ({ refresh_token: undefined, expires_in: 600, profile }),
  api: {},
  example: {
    account: {
      object: 'profile',
      id: 'prof_01DMC79VCBZ0NY2099737PSVF1',
      connection_id: 'conn_01E4ZCR3C56J083X43JQXF3JK5',
      connection_type: 'OktaSAML',
      organization_id: 'org_01EHWNCE74X7JSDV0X3SZ3KJNY',
      email: 'todd@workos.example',
      first_name: 'Todd',
      last_name: 'Rundgren',
      idp_id: '00u1a0ufowBJlzPlk357',
      raw_attributes: { department: 'music' },
    },
    identityData: {
      iss: 'URL',
      sub: 'prof_01DMC79VCBZ0NY2099737PSVF1',
      provider_id: 'prof_01DMC79VCBZ0NY2099737PSVF1',
      email: 'todd@workos.example',
      email_verified: true,
      phone_verified: false,
      name: 'Todd Rundgren',
      full_name: 'Todd Rundgren',
      custom_claims: {
        connection_id: 'conn_01E4ZCR3C56J083X43JQXF3JK5',
        organization_id: 'org_01EHWNCE74X7JSDV0X3SZ3KJNY',
      },
    },
    withoutEmail: { id: 'prof_2', email: undefined },
    withoutId: { id: undefined },
  },
}
