#!/bin/sh
# Writes .env into this folder: the settings of .env.example with new secrets, readable only by you.
set -eu
cd "$(dirname "$0")"
if [ -e .env ]; then
  echo '.env already exists. Remove it first; all users then have to sign in again.' >&2
  exit 1
fi
if ! command -v openssl > /dev/null; then
  echo 'openssl is missing. It is needed to sign the key of the console. Install it and try again.' >&2
  exit 1
fi
random() { od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; }
secret=$(random 32)
base64url() { base64 | tr -d '=\n' | tr '+/' '-_'; }
key=$(printf %s "$secret" | base64url)
now=$(date +%s)
claims="{\"role\":\"service_role\",\"aud\":\"authenticated\",\"sub\":\"console\",\"iat\":$now,\"exp\":$((now + 31536000))}"
signed=$(printf %s '{"alg":"HS256","typ":"JWT"}' | base64url).$(printf %s "$claims" | base64url)
admin_key=$signed.$(printf %s "$signed" | openssl dgst -sha256 -hmac "$secret" -binary | base64url)
umask 077
sed -e "s|^JWT_SECRET=$|JWT_SECRET=$secret|" \
    -e "s|^SECRETS_KEY=$|SECRETS_KEY=$(random 32)|" \
    -e "s|^JWT_KEY_SET=$|JWT_KEY_SET='{\"keys\":[{\"kty\":\"oct\",\"alg\":\"HS256\",\"k\":\"$key\"}]}'|" \
    -e "s|^AUTH_ADMIN_KEY=$|AUTH_ADMIN_KEY=$admin_key|" \
    -e "s|^POSTGRES_PASSWORD=$|POSTGRES_PASSWORD=$(random 16)|" \
    -e "s|^REDIS_PASSWORD=$|REDIS_PASSWORD=$(random 16)|" \
    .env.example > .env
echo 'Wrote .env.'
