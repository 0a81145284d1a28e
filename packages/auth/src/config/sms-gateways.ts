import type { SmsSettings } from './sms.ts'

/** Ways for a text message; a gateway may know several. */
export type TextChannel = 'sms' | 'whatsapp'

interface GatewayNeeds {
  readonly channels: readonly TextChannel[]
  /** Settings without which nothing can be sent, and what is said where one is empty. */
  readonly needs: Readonly<Partial<Record<keyof SmsSettings, string>>>
}

/** By AUTH_SMS_PROVIDER. How each is talked to: `messages/sms/`. */
export const smsGateways = {
  twilio: {
    channels: ['sms', 'whatsapp'],
    needs: {
      twilioAccountSid: 'missing Twilio account SID',
      twilioAuthToken: 'missing Twilio auth token',
      twilioMessageServiceSid: 'missing Twilio message service SID or Twilio phone number',
    },
  },
  messagebird: {
    channels: ['sms'],
    needs: {
      messagebirdAccessKey: 'missing Messagebird access key',
      messagebirdOriginator: 'missing Messagebird originator',
    },
  },
  textlocal: {
    channels: ['sms'],
    needs: {
      textlocalApiKey: 'missing Textlocal API key',
      textlocalSender: 'missing Textlocal sender',
    },
  },
  vonage: {
    channels: ['sms'],
    needs: {
      vonageApiKey: 'missing Vonage API key',
      vonageApiSecret: 'missing Vonage API secret',
      vonageFrom: "missing Vonage 'from' parameter",
    },
  },
  // Whoever is behind the URL is told the channel, and may know more than one.
  webhook: { channels: ['sms', 'whatsapp'], needs: { webhookUrl: 'missing webhook URL' } },
} as const satisfies Record<string, GatewayNeeds>
export type SmsGatewayName = keyof typeof smsGateways

/** Whether a message can be sent. */
export type SmsGateway =
  | {
      readonly isReady: true
      readonly name: SmsGatewayName
      readonly channels: readonly TextChannel[]
    }
  | { readonly isReady: false; readonly isKnown: boolean; readonly problem: string }

/** A hook sends everything, and no gateway is asked, whatever its name (reference 14). */
export const throughHook: SmsGateway = { isReady: true, name: 'webhook', channels: ['sms'] }

const spellings: Readonly<Record<string, SmsGatewayName>> = {
  gatewaya: 'twilio',
  gatewayb: 'messagebird',
}

/** In the spelling of the table, where it is in there. */
export function toGatewayName(text: string): string {
  const name = text.trim().toLowerCase()
  return Object.hasOwn(spellings, name) ? (spellings[name] ?? name) : name
}

export function findGateway(settings: SmsSettings): SmsGateway {
  const { provider } = settings
  if (!isGatewayName(provider)) {
    const problem = `sms Provider ${provider} could not be found`
    return { isReady: false, isKnown: false, problem }
  }
  const { channels, needs }: GatewayNeeds = smsGateways[provider]
  const missing = Object.entries(needs).find(([name]) => isEmpty(settings, name))
  if (missing !== undefined) return { isReady: false, isKnown: true, problem: missing[1] }
  return { isReady: true, name: provider, channels }
}

function isGatewayName(text: string): text is SmsGatewayName {
  return Object.hasOwn(smsGateways, text)
}

function isEmpty(settings: SmsSettings, name: string): boolean {
  return Object.entries(settings).some(([key, value]) => key === name && value === '')
}
