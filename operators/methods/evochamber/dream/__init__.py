"""CoDream: knowledge that only some members of a team have, extracted, verified and passed on."""
