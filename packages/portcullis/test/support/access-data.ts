import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** Switches on what the page Access shows. */
export function createAccessEnvironment(): Readonly<Record<string, string>> {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    privateKeyEncoding: { type: 'pkcs1', format: 'der' },
    publicKeyEncoding: { type: 'pkcs1', format: 'der' },
  })
  return {
    AUTH_OAUTH_SERVER_ENABLED: 'true',
    AUTH_SAML_ENABLED: 'true',
    AUTH_SAML_PRIVATE_KEY: privateKey.toString('base64'),
    // The provider of a test has no TLS.
    AUTH_CUSTOM_OAUTH_INTERNAL_HOSTS: '127.0.0.1',
  }
}

/** A certificate without its private key. It is valid for 100 years. */
const certificate = [
  'MIIDDzCCAfegAwIBAgIUajaeCCxeZFBWJ3XjAEG93IOB6uMwDQYJKoZIhvcNAQELBQAwFjEUMBIGA1UEAwwLaWRwLm',
  'V4YW1wbGUwIBcNMjYxMTE4MjM1MTU4WhgPMjEyNjEwMjUyMzUxNThaMBYxFDASBgNVBAMMC2lkcC5leGFtcGxlMIIB',
  'IjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEArE1/X5bMgRvJhleJfR5ApWy7TU89dI3hXtF8IFpzKjVueOxllg',
  'kYzqsj26HY1H/4WZz6Ofji5R/NSudcNnwdpkLelazbmbf485n0eKM/laFRhUhrj1/gr8ZrXFTIMHW+7PVWp07Z9Jc8',
  'gze2pdD/KMinGxhoT8vGlQHralNirFvNryTjYUEnBtkzEWhG6CNlLcsfWJE4gwSXVxhna2hGJ2EeOVpVORGXedqUOy',
  'TGt6CYMkHf18/IlAqgJGZTJJjmtiFCgr/2DedEfcW5MD+k1CBuUQpi0l0V//bX84Zq/FuUyBeIQQz9vzf6VxAYg/K1',
  'p5jZNbYvNhS5qDL/fidZZwIDAQABo1MwUTAdBgNVHQ4EFgQU0aAOEr67YpZ41pg6+dgFjDp4xxowHwYDVR0jBBgwFo',
  'AU0aAOEr67YpZ41pg6+dgFjDp4xxowDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOCAQEAbLDXsaYNe41s',
  'NSvIlW/cmH+jv70g8oXZT82pNo5HWu7EoEhtFonUGgDNvJ3UAM7o72m5a6133oE8D+o4GE8d8ZcRTBFg8CtugkaiCu',
  'AU7guzfgGnQI9H7dTeqAPw9NQB0KB/HvDuOgvJi0uEN9vnwov3XNUM/mpDowPYxdRGPGG5tfiQnFoj1fvwDJTg30Wu',
  'ui1F2kbBsWKSQGHI4Wy/Kz7cOHFdcpKpkJ2TYfLraDQncemNRTqTPNzVysZbEl+26rBl7yNoc+LGeeZo//IyR9SPNh',
  'kLQ0WQQ0vDFTSfE5YrtWp34tplQS+DzKdAdVmV8avNIXYVUV6ZuIH/5phSwg==',
].join('')

/** Creates the metadata of a SAML identity provider. */
export function createSamlMetadata(entityId: string): string {
  return `<?xml version="1.0"?>
<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}">
  <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <KeyDescriptor use="signing">
      <KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#">
        <X509Data><X509Certificate>${certificate}</X509Certificate></X509Data>
      </KeyInfo>
    </KeyDescriptor>
    <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
      Location="${entityId}/sign-in"/>
  </IDPSSODescriptor>
</EntityDescriptor>`
}

/** Starts a server with the discovery document of an OpenID Connect provider. @returns its issuer. */
export async function openIssuer(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    const found = request.url === '/.well-known/openid-configuration'
    const json = found ? toDiscovery(issuer) : {}
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(json))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return issuer
}

function toDiscovery(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/keys`,
  }
}
