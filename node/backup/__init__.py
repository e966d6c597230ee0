"""How is a node copied, and put back from the copy?

Read `node_backup.py` first: what of a node's directory goes along, by name. `restored_settings.py` decides which
settings are taken over. `backup_file.py` writes and checks the file, `sealed_secrets.py` closes what only its owner may
read.
"""
