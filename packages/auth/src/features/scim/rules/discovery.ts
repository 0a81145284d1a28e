import { groupSchema } from './group-resource.ts'
import { mostResults } from './list.ts'
import { userSchema } from './user-resource.ts'

/** RFC 7643, section 5. */
export function toServiceProviderConfig(baseUrl: string) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: mostResults },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'A token from /admin/sso/providers/ID/scim-tokens',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
  }
}

/** RFC 7643, section 6. */
export function toResourceTypes(baseUrl: string) {
  return [
    { name: 'User', endpoint: '/Users', schema: userSchema },
    { name: 'Group', endpoint: '/Groups', schema: groupSchema },
  ].map((type) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: type.name,
    ...type,
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${type.name}` },
  }))
}

type AttributeType = 'string' | 'boolean' | 'complex' | 'reference'

interface AttributeOptions {
  readonly type?: AttributeType
  readonly required?: boolean
  readonly multiValued?: boolean
  readonly isReadOnly?: boolean
  readonly isUnique?: boolean
  readonly subAttributes?: readonly object[]
}

function attribute(name: string, options: AttributeOptions = {}) {
  const { type = 'string', required = false, multiValued = false, subAttributes } = options
  return {
    name,
    type,
    multiValued,
    required,
    ...(type === 'string' && { caseExact: false }),
    mutability: options.isReadOnly ? 'readOnly' : 'readWrite',
    returned: 'default',
    uniqueness: options.isUnique ? 'server' : 'none',
    ...(subAttributes && { subAttributes }),
  }
}

const valueAttributes = [
  attribute('value'),
  attribute('type'),
  attribute('primary', { type: 'boolean' }),
]
const memberAttributes = [attribute('value'), attribute('display', { isReadOnly: true })]

const schemas = [
  {
    id: userSchema,
    name: 'User',
    description: 'User account',
    attributes: [
      attribute('userName', { required: true, isUnique: true }),
      attribute('displayName'),
      attribute('active', { type: 'boolean' }),
      attribute('name', {
        type: 'complex',
        subAttributes: ['formatted', 'givenName', 'familyName'].map((name) => attribute(name)),
      }),
      attribute('emails', { type: 'complex', multiValued: true, subAttributes: valueAttributes }),
      attribute('groups', {
        type: 'complex',
        multiValued: true,
        isReadOnly: true,
        subAttributes: memberAttributes,
      }),
    ],
  },
  {
    id: groupSchema,
    name: 'Group',
    description: 'Group',
    attributes: [
      attribute('displayName', { required: true, isUnique: true }),
      attribute('members', { type: 'complex', multiValued: true, subAttributes: memberAttributes }),
    ],
  },
]

/** RFC 7643, section 7. */
export function toSchemas(baseUrl: string) {
  return schemas.map((schema) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...schema,
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${schema.id}` },
  }))
}
