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
  /** Default: readWrite. */
  readonly mutability?: 'readOnly' | 'immutable'
  readonly isUnique?: boolean
  readonly subAttributes?: readonly object[]
  /** The resources that a reference leads to. */
  readonly referenceTypes?: readonly string[]
}

function attribute(name: string, options: AttributeOptions = {}) {
  const { type = 'string', required = false, multiValued = false, subAttributes } = options
  return {
    name,
    type,
    multiValued,
    required,
    ...(type === 'string' && { caseExact: false }),
    mutability: options.mutability ?? 'readWrite',
    returned: 'default',
    uniqueness: options.isUnique ? 'server' : 'none',
    ...(subAttributes && { subAttributes }),
    ...(options.referenceTypes && { referenceTypes: options.referenceTypes }),
  }
}

const valueAttributes = [
  attribute('value'),
  attribute('type'),
  attribute('primary', { type: 'boolean' }),
]

/** A link to another resource, whose ID is the value. */
const toLink = (resource: string) => [
  attribute('value', { mutability: 'immutable' }),
  attribute('$ref', { type: 'reference', mutability: 'immutable', referenceTypes: [resource] }),
  attribute('display', { mutability: 'readOnly' }),
]

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
        mutability: 'readOnly',
        subAttributes: toLink('Group'),
      }),
    ],
  },
  {
    id: groupSchema,
    name: 'Group',
    description: 'Group',
    attributes: [
      attribute('displayName', { required: true, isUnique: true }),
      attribute('members', { type: 'complex', multiValued: true, subAttributes: toLink('User') }),
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
