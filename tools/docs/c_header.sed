# Does the same for the headers of C, whose comments are plain.
1s|.*|/// @file|
s|^\( *\)//\( \{0,1\}\)|\1///\2|
s|\([^ /]\) *// \(.*\)|\1 ///< \2|
