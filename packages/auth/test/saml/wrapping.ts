/**
 * The eight forms of signature wrapping in "On Breaking SAML" (Somorovsky et al., 2012). Each keeps
 * a validly signed element somewhere and adds a forged one where a careless reader looks.
 */
import type { TestIdentityProvider } from '../support/saml/identity-provider.ts'

interface Wrapped {
  readonly name: string
  readonly xml: string
}

const signaturePattern = /<ds:Signature[\s\S]*?<\/ds:Signature>/

interface Parts {
  readonly assertion: string
  readonly signature: string
  /** The same assertion without its signature. */
  readonly unsigned: string
  /** Claims to be another user, with another ID. */
  readonly forged: string
}

function toParts(xml: string): Parts {
  const [assertion = ''] = /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml) ?? []
  const [signature = ''] = signaturePattern.exec(assertion) ?? []
  const unsigned = assertion.replace(signaturePattern, '')
  const forged = unsigned.replace('>victim<', '>admin<').replace('ID="_signed"', 'ID="_forged"')
  return { assertion, signature, unsigned, forged }
}

/** @param nowMs the time of the response. */
export function wrapSignatures(idp: TestIdentityProvider, nowMs: number): readonly Wrapped[] {
  const common = { nowMs, nameId: 'victim' }
  return [...wrapResponse(idp, common), ...wrapAssertion(idp, common)]
}

type Common = Parameters<TestIdentityProvider['createResponse']>[0]

/** The signature covers the response. */
function wrapResponse(idp: TestIdentityProvider, common: Common): readonly Wrapped[] {
  const original = idp.createResponse({ ...common, signed: 'response' })
  const [signature = ''] = signaturePattern.exec(original) ?? []
  const unsigned = original.replace(signaturePattern, '')
  const forged = unsigned
    .replace('>victim<', '>admin<')
    .replace(/ ID="_[^"]+" Version/, ' ID="_forged" Version')
  const into = (text: string) => signature.replace('</ds:Signature>', `${text}</ds:Signature>`)
  const end = '</samlp:Response>'
  return [
    {
      name: 'XSW1: the signed response is inside the signature of a forged response',
      xml: forged.replace(
        '<samlp:Status>',
        `${into(`<ds:Object>${unsigned}</ds:Object>`)}<samlp:Status>`,
      ),
    },
    {
      name: 'XSW2: the signed response stands before the signature in a forged response',
      xml: forged
        .replace('<samlp:Status>', `${unsigned}${signature}<samlp:Status>`)
        .replace(end, end),
    },
  ]
}

/** The signature covers the assertion. */
function wrapAssertion(idp: TestIdentityProvider, common: Common): readonly Wrapped[] {
  const original = idp.createResponse({ ...common, id: '_signed' })
  const { assertion, signature, unsigned, forged } = toParts(original)
  const put = (text: string) => original.replace(assertion, () => text)
  const withSignature = (body: string, text: string) =>
    body.replace('<saml:Subject>', () => `${text}<saml:Subject>`)
  const end = '</saml:Assertion>'
  const inside = signature.replace(
    '</ds:Signature>',
    () => `<ds:Object>${unsigned}</ds:Object></ds:Signature>`,
  )
  return [
    {
      name: 'XSW3: a forged assertion stands before the signed one',
      xml: put(`${forged}${assertion}`),
    },
    {
      name: 'XSW4: the signed assertion is inside a forged one',
      xml: put(forged.replace(end, () => `${assertion}${end}`)),
    },
    {
      name: 'XSW5: the forged assertion has the signature, the signed one follows it',
      xml: put(`${withSignature(forged, signature)}${unsigned}`),
    },
    {
      name: 'XSW6: the signed assertion is inside the signature of a forged one',
      xml: put(withSignature(forged, inside)),
    },
    {
      name: 'XSW7: a forged assertion is in the extensions before the signed one',
      xml: put(`<samlp:Extensions>${forged}</samlp:Extensions>${assertion}`),
    },
    {
      name: 'XSW8: the signed assertion is in an object of the signature of a forged one',
      xml: put(
        withSignature(
          forged,
          signature.replace(
            '</ds:Signature>',
            () => `<ds:Object>${assertion}</ds:Object></ds:Signature>`,
          ),
        ),
      ),
    },
  ]
}
